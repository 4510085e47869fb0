"""A run's results -> what the first page shows: verdicts, the machine, the tests in brief, trainings."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.report.grouping import groups, side_by_side
from pytest_opcost.report.machine import Row, machine_rows, machines
from pytest_opcost.report.page.families import FamilyView, family_view
from pytest_opcost.report.page.tests import OUTCOMES
from pytest_opcost.report.trainings import TrainingView, training_views

if TYPE_CHECKING:
    from pytest_opcost.report.grouping import SideBySide
    from pytest_opcost.report.page.tests import TestView
    from pytest_opcost.results import RunResults


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A row of the verdicts: a test, the page that has its section, and the first thing worth saying of it."""

    test: TestView
    page: str
    remark: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The first page. `counts` are outcomes with their number, the gravest first."""

    started: str
    counts: tuple[tuple[str, str, int], ...]
    verdicts: tuple[VerdictRow, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    families: tuple[FamilyView, ...]
    trainings: tuple[TrainingView, ...]


def overview(run: RunResults) -> Overview:
    """What is shown of a whole run, and of every family in it."""
    counted = Counter(one.verdict.outcome for one in run.checks)
    checks: dict[str, list[SideBySide]] = defaultdict(list)
    for test in side_by_side(run.checks):
        checks[test.family].append(test)
    families = tuple(family_view(group, checks[group.family]) for group in groups(run.checks))
    verdicts = [VerdictRow(test, view.page, _remark(test)) for view in families for test in view.tests]
    environments = machines(run)
    return Overview(
        started=run.started,
        counts=tuple((one.value, one.words, counted[one]) for one in OUTCOMES if counted[one]),
        verdicts=tuple(sorted(verdicts, key=lambda row: OUTCOMES.index(row.test.result.verdict.outcome))),
        columns=tuple(environment.device for environment in environments),
        rows=machine_rows(environments),
        families=families,
        trainings=training_views(run.trainings),
    )


def _remark(test: TestView) -> str:
    """Why it drifted, as far as that is known; else the gravest finding."""
    result = test.result
    told = [cause.message for cause in result.causes] or [finding.text for finding in result.verdict.findings]
    return told[0] if told else ""
