"""Which line of the user's own code is being executed."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

import torch

from pytest_opcost.measure import calling

_TORCH = os.path.dirname(torch.__file__) + os.sep
_MEASURE = os.path.dirname(calling.__file__) + os.sep
_INSTALLED = ("site-packages", "dist-packages")


def user_line() -> str:
    """The innermost line of the measured step that is not torch's, `model.py:31`; empty if there is none.

    The path is relative to where packages are installed, or to the working directory where it lies below that.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != calling.__file__:
        name = frame.f_code.co_filename
        # `<` begins the names of code that is in no file.
        if not name.startswith((_TORCH, _MEASURE, "<")):
            return f"{_shown(name)}:{frame.f_lineno}"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return ""


@cache
def _shown(name: str) -> str:
    path = Path(name)
    for folder in _INSTALLED:
        if folder in path.parts:
            return Path(*path.parts[len(path.parts) - path.parts[::-1].index(folder) :]).as_posix()
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else path.name
