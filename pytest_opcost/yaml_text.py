"""Plain data <-> YAML, read safely and written one line a thing. The only user of YAML."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from pytest_opcost.errors import BaselineError
from pytest_opcost.paths import from_here

if TYPE_CHECKING:
    from pathlib import Path


@cache
def _loader() -> type:
    """The safe loader, which besides refuses a key that stands twice: YAML says so, PyYAML keeps the last one."""
    import yaml

    class UniqueKeyLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
            if len(mapping) != len(node.value):
                seen = set()
                for key_node, _ in node.value:
                    if key_node.value in seen:
                        raise yaml.constructor.ConstructorError(
                            None, None, f"the key {key_node.value!r} stands twice", key_node.start_mark
                        )
                    seen.add(key_node.value)
            return mapping

    return UniqueKeyLoader


def text_of(path: Path) -> str:
    """What a file holds; raises BaselineError where it cannot be read, or is no text."""
    try:
        return path.read_text(encoding="utf-8")
    except IsADirectoryError:
        raise _damaged(path, "is a folder") from None
    except UnicodeDecodeError as error:
        raise _damaged(path, f"is no UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise _damaged(path, f"cannot be read: {error.strerror or error}") from None


def parse(text: str, path: Path, alike: re.Pattern[str] | None = None) -> object:
    """What the text of a file at `path` holds; raises BaselineError where it is no YAML, or empty.

    `alike` finds whole lines of it, a mapping's, that many such files share: they are read once for all of them.
    """
    if (conflict := re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE)) is not None:
        line, shown = text.count("\n", 0, conflict.start()) + 1, from_here(path)
        raise BaselineError(
            f"{shown}: is in the midst of a merge: a conflict's mark is in line {line}.\n"
            "Expected: a baseline of one side, since the figures of two cannot be mixed.\n"
            f"Take a side: git checkout --ours -- {shown} (or --theirs), or record it anew with "
            "--opcost-update-baselines; then git add."
        )
    import yaml

    try:
        document = None if alike is None else _with_shared(text, alike)
        if document is None:
            document = _value(text)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date or a number that there cannot be
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise _damaged(path, f"is no valid YAML{where}: {problem}") from None
    except RecursionError:
        raise _damaged(path, "is nested too deeply") from None
    if document is None:
        raise _damaged(path, "is empty")
    return document


def _value(text: str) -> object:
    import yaml

    # A SafeLoader: a tag that asks for a Python object is an error.
    return yaml.load(text, Loader=_loader())


_shared_value = lru_cache(maxsize=64)(_value)


def _with_shared(text: str, alike: re.Pattern[str]) -> object:
    """What a text holds some lines of which others share; None where these cannot be read apart from the rest."""
    if (found := alike.search(text)) is None:
        return None
    before, lines, after = text[: found.start()], found[0], text[found.end() :]
    said = re.sub(r"^#.*", "", before, flags=re.MULTILINE)
    # No quotes are open where the lines begin, and nothing in either part is named by the other.
    if said.count("'") % 2 or re.search(r'["&*]', f"{said}{lines}{after}"):
        return None
    import yaml

    try:
        shared, rest = _shared_value(lines), _value(before + after)
    except (yaml.YAMLError, ValueError):
        return None  # the whole text's error names the right line
    if isinstance(shared, dict) and isinstance(rest, dict) and shared.keys().isdisjoint(rest):
        return {**rest, **shared}
    return None


def _damaged(path: Path, found: str) -> BaselineError:
    return BaselineError(f"{from_here(path)}: {found}.\nExpected: a baseline written by pytest-opcost.\n{mend(path)}")


def mend(path: Path) -> str:
    """How a damaged file is mended, in words."""
    return f"Restore it (git checkout -- {from_here(path)}), or record it anew with --opcost-update-baselines."


def block(mapping: dict[str, object]) -> str:
    """A mapping over several lines, without the last one's end."""
    import yaml

    text: str = yaml.safe_dump(mapping, default_flow_style=False, allow_unicode=True, width=10**9)
    return text.rstrip("\n")


def flow(value: object) -> str:
    """A value on one line."""
    import yaml

    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**9, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...").rstrip("\n")


def line_of(path: Path, name: str, *, before: str = "") -> object:
    """The value of a field that stands on one line of its own; None where there is none, or none that can be read.

    With `before` it is looked for above that field alone, so that most of the file need not be read.
    """
    import yaml

    start = f"{name}: "
    stops = (start, f"{before}: ") if before else (start,)
    try:
        with path.open(encoding="utf-8") as file:
            line = next((line for line in file if line.startswith(stops)), "")
        if not line.startswith(start):
            return None
        return yaml.load(line, Loader=_loader())[name]
    except (OSError, ValueError, yaml.YAMLError):
        return None
