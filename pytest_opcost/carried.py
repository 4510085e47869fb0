"""What travels with a test's report, from a worker of pytest-xdist to its controller too: plain data alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.plain import training_data, training_from
from pytest_opcost.results import CheckResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_opcost.training import Training


def send(report: pytest.TestReport, results: Sequence[CheckResult], trainings: Sequence[Training]) -> None:
    """Have the report of a test's phase carry what was found in it."""
    if results:
        report.opcost = [result.to_data() for result in results]  # type: ignore[attr-defined]
    if trainings:
        report.opcost_trainings = [training_data(one) for one in trainings]  # type: ignore[attr-defined]


def results_in(report: pytest.TestReport) -> list[CheckResult]:
    """The results that a report carries."""
    return [CheckResult.from_data(data) for data in getattr(report, "opcost", ())]


def trainings_in(report: pytest.TestReport) -> list[Training]:
    """The trainings that a report carries."""
    return [training_from(data) for data in getattr(report, "opcost_trainings", ())]
