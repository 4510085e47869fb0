"""Whether the reports can be written where they are asked for: looked at before anything is measured."""

from __future__ import annotations

import os
import stat
import tempfile
from typing import TYPE_CHECKING

from pytest_opcost.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_opcost.options import Options


def refuse_unwritable(options: Options, folder: Path) -> None:
    """Look at each place, relative to `folder`; nothing is left behind. Raises OptionError for the first that fails."""
    for option, told, path, is_folder in _places(options):
        if why := _reason(folder / path, is_folder=is_folder):
            raise OptionError(
                f"{option}={told}: the report cannot be written there: {why}.\n"
                f"Expected: a {'folder' if is_folder else 'file'}, there already or new, where this user may write.\n"
                f"Give another path to {option}, or make this one writable. Nothing was measured."
            )


def _places(options: Options) -> Iterator[tuple[str, str, Path, bool]]:
    """Option, value as it is written, path, and whether that is a folder's, of each report."""
    files = (("json", options.json), ("markdown", options.markdown))
    yield from ((f"--opcost-{name}", str(path), path, False) for name, path in files if path is not None)
    yield from (("--opcost-export", f"{kind}:{path}", path, False) for kind, path in options.exports)
    folders = (("html", options.html), ("tensorboard", options.tensorboard))
    yield from ((f"--opcost-{name}", str(path), path, True) for name, path in folders if path is not None)


def _reason(path: Path, *, is_folder: bool) -> str:
    """Why nothing can be written there; empty where it can."""
    # Reports are written beside themselves first, and missing folders are made.
    place = path if is_folder else path.parent
    try:
        there = _mode(path)
        if there is not None and stat.S_ISDIR(there) != is_folder:
            return f"it is {'a file' if is_folder else 'a folder'}"
        while (mode := _mode(place)) is None and place != place.parent:
            place = place.parent
        if mode is not None and not stat.S_ISDIR(mode):
            return f"{place} is a file"
        with tempfile.TemporaryDirectory(dir=place, prefix=".writing-"):
            return ""
    except OSError as error:
        return f"{error.strerror}, in {place}"


def _mode(path: Path) -> int | None:
    """What kind of file is there, None where none is. Raises OSError where there can be none, as of a name too long."""
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
