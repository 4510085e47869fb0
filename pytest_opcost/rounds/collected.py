"""From the ids of tests to what pytest collects, and back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pytest


def file_of(test: str) -> str:
    """The file of a test, as its id has it: relative to pytest's rootdir."""
    return test.partition("::")[0]


def paths_of(tests: Iterable[str], root: Path, directory: Path) -> list[str]:
    """The files of these tests as arguments for a pytest that is called in `directory`.

    Whole files: given an id that is not there, pytest would run none of the others. A path with a bracket, which pytest
    takes for parameters, is reached by the folder above.
    """
    paths: dict[str, None] = {}
    for test in tests:
        path = Path(os.path.relpath(root / file_of(test), directory))
        while "[" in str(path):
            path = path.parent
        paths[str(path)] = None
    return list(paths)


def in_order(tests: Sequence[str], items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The items of these tests, in their order."""
    found = {item.nodeid: item for item in items}
    return [found[test] for test in tests if test in found]


def not_collected(tests: Iterable[str], items: Iterable[pytest.Item], problems: Mapping[str, str]) -> dict[str, str]:
    """The tests that are not among the items, and why; `problems` are what pytest said of files and the like."""
    there = {item.nodeid for item in items}
    return {test: _why(test, problems) for test in tests if test not in there}


def _why(test: str, problems: Mapping[str, str]) -> str:
    above = [why for node, why in problems.items() if node in ("", ".") or test.startswith((f"{node}::", f"{node}/"))]
    return "\n".join(above) or f"was not collected: {file_of(test)} is there and has no such test"
