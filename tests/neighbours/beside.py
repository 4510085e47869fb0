"""A project that runs beside other plugins, by the names of their entry points."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from integration.project import Project

#: Distributions and what pytest loads of each, by the name of the entry point; `-p asyncio` would mean Python's own.
NEIGHBOURS: dict[str, tuple[str, ...]] = {
    "pytest-playwright": ("playwright",),
    "pytest-benchmark": ("benchmark",),
    "pytest-torch": ("pytest_torch",),
    "pytest-xdist": ("xdist", "xdist.looponfail"),
    "pytest-randomly": ("randomly",),
    "pytest-rerunfailures": ("rerunfailures",),
    "pytest-repeat": ("repeat",),
    "pytest-timeout": ("timeout",),
    "pytest-cov": ("pytest_cov",),
    "pytest-mock": ("pytest_mock",),
    "pytest-asyncio": ("pytest_asyncio.plugin",),
    "anyio": ("anyio",),
    "syrupy": ("syrupy",),
    "inline-snapshot": ("inline_snapshot",),
    "pytest-html": ("metadata", "html", "html_fixtures"),
    "hypothesis": ("hypothesispytest",),
}


def installed(neighbours: Sequence[str]) -> list[str]:
    """The entry points of these distributions; skips the test where one of them is not installed."""
    there = {name for point in entry_points(group="pytest11") for name in (point.name, point.value)}
    for neighbour in neighbours:
        if missing := [name for name in NEIGHBOURS[neighbour] if name not in there]:
            pytest.skip(f"{neighbour} is not installed ({', '.join(missing)}): tox -e neighbours has it")
    return [name for neighbour in neighbours for name in NEIGHBOURS[neighbour]]


class Beside:
    """A user's project with one check, recorded; `neighbours` are the plugins that its runs load beside opcost."""

    def __init__(self, suite: Project) -> None:
        self.suite, self.path = suite, suite.path
        self.neighbours: list[str] = []
        self.first = True

    def plugins(self, *neighbours: str, first: bool = True) -> None:
        """From now on these plugins are loaded, all before opcost or all behind it."""
        self.neighbours, self.first = installed(neighbours), first
        # pytest warns of what is named here one by one, and would not where it finds plugins by itself.
        lines = ["  ignore::pytest.PytestAssertRewriteWarning"]
        if "pytest-asyncio" in neighbours:
            lines.append("asyncio_default_fixture_loop_scope = function")
        self.suite.ini(*lines)

    def run(self, *args: str | Path, plugins: Sequence[str] | None = None) -> pytest.RunResult:
        """`pytest` in a process of its own."""
        names = [*self.neighbours, "opcost"] if self.first else ["opcost", *self.neighbours]
        order = [f"-p{name}" for name in (names if plugins is None else plugins)]
        return self.suite.pytester.run(sys.executable, "-m", "pytest", *order, *args)

    def record(self) -> dict[Path, str]:
        """Record baselines, in this process and without the others; all files with their text."""
        return self.suite.record("-popcost")

    def drifts(self, *, test: str = "*") -> None:
        """From now on an operator takes 60 % longer, which fresh processes have to confirm."""
        self.suite.lenet(test=test, gelu=[2400.0, 3])
