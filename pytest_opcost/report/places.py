"""Whether the reports can be written where they are asked for: looked at before anything is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.errors import OptionError
from pytest_opcost.paths import unwritable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_opcost.options import Options

#: What the pages' template says of who made them, and where that is at the latest.
_OURS, _HEAD = b'<meta name="generator" content="pytest-opcost', 1024


def refuse_unwritable(options: Options, folder: Path) -> None:
    """Look at each place, relative to `folder`; nothing is left behind. Raises OptionError for the first that fails."""
    files: dict[Path, str] = {}
    for option, told, path, is_folder in _places(options):
        place = folder / path
        kind = "folder" if is_folder else "file"
        if why := unwritable(place, is_folder=is_folder):
            expected = f"a {kind}, there already or new, where this user may write"
            mend = f"Give another path to {option}, or make this one writable"
        elif why := _in_the_way(option, place, files):
            expected, mend = f"a {kind} that nobody else writes", f"Give another path to {option}"
        else:
            files |= {} if is_folder else {place.resolve(): option}
            continue
        raise OptionError(
            f"{option}={told}: the report cannot be written there: {why}.\nExpected: {expected}.\n"
            f"{mend}. Nothing was measured."
        )


def _in_the_way(option: str, place: Path, files: Mapping[Path, str]) -> str:
    """Why writing there would lose one of these reports' `files`, or somebody else's; empty where it would not."""
    index = place / "index.html"
    for path in (place, index) if option == "--opcost-html" else (place,):
        if other := files.get(path.resolve()):
            return f"{other} is written to {'the same place' if path == place else 'its index.html'}"
    return foreign_page(place) if option == "--opcost-html" else ""


def foreign_page(folder: Path) -> str:
    """Why the page would take the place of one that somebody else made; empty where it would not."""
    try:
        with (folder / "index.html").open("rb") as page:
            ours = _OURS in page.read(_HEAD)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:  # a folder, or a file that may not be read
        ours = False
    return "" if ours else "its index.html was not written by pytest-opcost"


def _places(options: Options) -> Iterator[tuple[str, str, Path, bool]]:
    """Option, value as it is written, path, and whether that is a folder's, of each report."""
    files = (("json", options.json), ("markdown", options.markdown))
    yield from ((f"--opcost-{name}", str(path), path, False) for name, path in files if path is not None)
    yield from (("--opcost-export", f"{kind}:{path}", path, False) for kind, path in options.exports)
    folders = (("html", options.html), ("tensorboard", options.tensorboard))
    yield from ((f"--opcost-{name}", str(path), path, True) for name, path in folders if path is not None)
