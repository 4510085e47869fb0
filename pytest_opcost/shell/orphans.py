"""Which baselines belong to tests that are gone, as far as files tell without running pytest."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

#: Functions that may make a name, as functions: a model's `eval()` makes none.
_MAKES_NAMES = frozenset({"setattr", "globals", "exec", "eval", "locals", "vars"})


class State(Enum):
    """What is known of a baseline's test."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of one test, and why."""

    state: State
    why: str


def look(root: Path, test: str) -> Found:
    """Whether the test with this id exists below `root`.

    It is gone where its file is, or where nothing in its file bears its name any more. It may still exist where it
    could come from elsewhere: a class that inherits, a star import, a file that cannot be read or is no Python. Its
    parameters only pytest knows.
    """
    file, *names = test.partition("[")[0].split("::")
    path = root / file
    if not path.exists():
        return Found(State.GONE, f"{file} is gone")
    known = _names_in(path) if path.suffix == ".py" else None
    if known is None:
        return Found(State.UNKNOWN, f"{file} cannot be read as Python")
    missing = [name for name in names if name not in known.names]
    if not missing:
        return Found(State.THERE, "")
    if known.more:
        return Found(State.UNKNOWN, f"{missing[0]} may come to {file} from elsewhere")
    return Found(State.GONE, f"{file} has no {missing[0]}")


@dataclass(frozen=True, slots=True)
class _Names:
    """All names in a file, and whether there may be more: inherited, or imported with a star."""

    names: frozenset[str]
    more: bool


@cache
def _names_in(path: Path) -> _Names | None:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names: set[str] = set()
    more = False
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names.add(node.name)
            more |= any(not (isinstance(base, ast.Name) and base.id == "object") for base in node.bases)
        elif isinstance(node, ast.Name):
            names.add(node.id)
            more |= node.id in _MAKES_NAMES
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            more |= node.func.id == "type" and len(node.args) > 1
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
            more |= node.name == "*"
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
            more |= node.attr == "__dict__"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)  # setattr, globals()["test_..."]
    return _Names(frozenset(names), more)
