"""Files of a report, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pytest_opcost.errors import ReportError


def write_whole(path: Path, content: bytes, option: str) -> None:
    """Replace the file in one step, its folder made where it is missing: a reader sees the old file or the new one.

    Raises ReportError, naming `option`, where that cannot be done; what was there before is then still there.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-", suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # mkstemp's 0600 would hide the file from a server's user
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise unwritable(path, error, option) from None


def unwritable(path: Path, error: OSError, option: str) -> ReportError:
    """What to tell of a report's file or folder that cannot be written."""
    return ReportError(
        f"{path}: the report could not be written: {error.strerror or error}.\n"
        "Expected: a folder that can be written, and room on its disk; what was there before is untouched.\n"
        f"Choose another place with {option}."
    )
