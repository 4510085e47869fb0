"""What kept a run from judging anything, as far as pytest tells it: an interrupt, files, tests that failed early."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_opcost import carried

if TYPE_CHECKING:
    from collections.abc import Collection


class Ending:
    """A plugin of its own, which only listens. `broken` says whether something could not be collected, `trains` whether
    a test was to train a network, whatever became of it.
    """

    def __init__(self) -> None:
        self._interrupted = self.trains = False
        self._uncollected: dict[str, None] = {}
        self._asked: set[str] = set()
        self._failed: dict[str, None] = {}

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        # pytest interrupts itself too, as after errors of collecting.
        self._interrupted |= not isinstance(excinfo.value, pytest.Session.Interrupted)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._uncollected[report.nodeid.partition("::")[0]] = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.trains |= hasattr(report, "opcost_trains")
        if hasattr(report, "opcost_asked"):
            self._asked.add(report.nodeid)
        if report.failed and not carried.results_in(report):
            self._failed[report.nodeid] = None

    @property
    def broken(self) -> bool:
        return bool(self._uncollected)

    @property
    def why(self) -> str:
        """What kept the run from judging, in words; empty where nothing is known to have."""
        failed = [nodeid for nodeid in self._failed if nodeid in self._asked]
        reasons = ["the run was interrupted"] if self._interrupted else []
        reasons += [f"{_count(self._uncollected, 'file')} could not be collected"] if self._uncollected else []
        reasons += [f"{_count(failed, 'opcost test')} failed before a verdict"] if failed else []
        return ", and ".join(reasons)


def _count(things: Collection[str], noun: str) -> str:
    return f"{len(things)} {noun}{'s' if len(things) > 1 else ''}"
