"""Files of a report, written whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.errors import ReportError
from pytest_opcost.whole_files import replace_file

if TYPE_CHECKING:
    from pathlib import Path

#: What a report's option begins with in pytest; in the shell it is `--` alone.
PREFIX = "--opcost-"


def write_whole(path: Path, content: bytes, option: str) -> None:
    """Replace the file in one step, see `replace_file`.

    Raises ReportError, naming `option`, where that cannot be done; what was there before is then still there.
    """
    try:
        replace_file(path, content)
    except OSError as error:
        raise unwritable(path, error, option) from None


def unwritable(path: Path, error: OSError, option: str) -> ReportError:
    """What to tell of a report's file or folder that cannot be written."""
    return ReportError(
        f"{path}: the report could not be written: {error.strerror or error}.\n"
        "Expected: a folder that can be written, and room on its disk; what was there before is untouched.\n"
        f"Choose another place with {option}."
    )
