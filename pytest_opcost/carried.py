"""What travels with a test's report: from one process to another, as from a worker of pytest-xdist, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pytest_opcost.plain import training_data, training_from
from pytest_opcost.results import CheckResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_opcost.training import Training


#: What reports carry that stay in this process: their attributes, which other plugins write out, are plain data too.
_HERE: WeakKeyDictionary[pytest.TestReport, tuple[list[CheckResult], list[Training]]] = WeakKeyDictionary()


def send(
    report: pytest.TestReport, results: Sequence[CheckResult], trainings: Sequence[Training], *, away: bool
) -> None:
    """Have the report of a test's phase carry what was found in it; `away` from this process, or within it."""
    if not away:
        _HERE[report] = [*results], [*trainings]
        return
    if results:
        report.opcost = [result.to_data() for result in results]  # type: ignore[attr-defined]
    if trainings:
        report.opcost_trainings = [training_data(one) for one in trainings]  # type: ignore[attr-defined]


def results_in(report: pytest.TestReport) -> list[CheckResult]:
    """The results that a report carries."""
    if report in _HERE:
        return _HERE[report][0]
    return [CheckResult.from_data(data) for data in getattr(report, "opcost", ())]


def forget(report: pytest.TestReport) -> None:
    """Keep no longer what a report carries: pytest holds the reports until its end."""
    _HERE.pop(report, None)


def trainings_in(report: pytest.TestReport) -> list[Training]:
    """The trainings that a report carries."""
    if report in _HERE:
        return _HERE[report][1]
    return [training_from(data) for data in getattr(report, "opcost_trainings", ())]
