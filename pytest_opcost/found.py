"""What the checks of a run found; what is recorded of a test is written once it is over, and not if it failed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_opcost import carried
from pytest_opcost.judge import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from pytest_opcost.results import CheckResult, Subject

#: A worker of pytest-xdist, if there are any, and the test's id.
_Test: TypeAlias = tuple[object, str]


class Found:
    """All results, gathered from the tests' reports; `write` is called with each whose baseline is to be written, and
    says whether it was.
    """

    def __init__(self, write: Callable[[CheckResult], bool]) -> None:
        self._write = write
        self._results: dict[tuple[_Test, Subject], CheckResult] = {}
        self._begun: dict[_Test, list[CheckResult]] = {}  # tests that are not over, with what is recorded of them
        self._failed: set[_Test] = set()

    @property
    def results(self) -> Sequence[CheckResult]:
        """What every check found; where a plugin ran a test again, the last time."""
        return list(self._results.values())

    def take(self, report: pytest.TestReport) -> None:
        """Gather what the report of a test's phase carries."""
        test = getattr(report, "worker_id", None), report.nodeid
        if report.when == "setup":
            # A plugin may begin a test again that it did not end.
            self._leave(test, "it was run again")
            self._failed.discard(test)
        if report.outcome not in ("passed", "skipped"):  # "failed", and pytest-rerunfailures' "rerun"
            self._failed.add(test)
        for result in carried.results_in(report):
            self._results[test, result.subject] = result
            if result.text is not None:
                self._begun.setdefault(test, []).append(result)
        if report.when == "teardown":
            if test in self._failed:
                self._leave(test, "the test failed")
            for result in self._begun.pop(test, []):
                if not self._write(result):
                    self._leave_one(test, result, "its file cannot be")

    def end(self) -> None:
        """No more reports come: a test that is not over by now was broken off, as by Ctrl-C or a crash."""
        for test in list(self._begun):
            self._leave(test, "the test did not end")

    def _leave(self, test: _Test, why: str) -> None:
        """Leave files as they are, and say so: half of a test's baselines, or those of a wrong step, help nobody."""
        for result in self._begun.pop(test, []):
            self._leave_one(test, result, why)

    def _leave_one(self, test: _Test, result: CheckResult, why: str) -> None:
        verdict = result.verdict
        if verdict.outcome is Outcome.RECORDED:
            verdict = replace(verdict, outcome=Outcome.NOT_JUDGED)
        left = replace(result, text=None, verdict=verdict, changes=(f"not written, since {why}",))
        self._results[test, result.subject] = left
