"""Paths as they are told, and whether something can be written there."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def told(path: Path, root: Path) -> Path:
    """The path relative to `root` where it lies below, else as it is."""
    return path.relative_to(root) if path.is_relative_to(root) else path


def from_here(path: Path) -> Path:
    """The path as a user types it: relative to the working folder where it lies below."""
    try:
        return told(path, Path.cwd())
    except OSError:  # a working folder that is gone
        return path


def unwritable(path: Path, *, is_folder: bool) -> str:
    """Why nothing can be written there; empty where it can. Nothing is left behind."""
    # What we write is written beside itself first, and missing folders are made.
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
