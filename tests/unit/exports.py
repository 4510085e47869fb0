"""What the tests of exports share: a check whose names hold whatever may break a format, and its export as text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from made_up import made_up_result, made_up_run
from records import sampled

from pytest_opcost.judge import Outcome
from pytest_opcost.report.exports import writer_of

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_opcost.results import CheckResult, RunResults

NASTY = 'tests/a b.py::test_x["1", \\ \n: # é \u2028 % {} `=`]'
CHECK = '=größer\r\n,"\udc80'


def drifted() -> CheckResult:
    """A plain check on the CPU that drifted, `tests/test_a.py::test_step[cpu-16]`."""
    return made_up_result("tests/test_a.py::test_step", 16, outcome=Outcome.DRIFTED)


def nasty(test: str = NASTY, check: str | None = CHECK) -> CheckResult:
    """A check on a device whose names are nasty, its operators sampled in three rounds."""
    made = made_up_result("", 4, "cuda")
    subject = replace(made.subject, test=test, check=check)
    return replace(made, subject=subject, profile=sampled(made.profile, 0.9, 1.0, 1.3))


def both() -> RunResults:
    """A run of the two."""
    return made_up_run(drifted(), nasty())


def exported(kind: str, run: RunResults, folder: Path) -> str:
    """What the export of a run's results writes, line ends as they are."""
    path = folder / "export"
    writer_of(kind)(path, run)
    return path.read_bytes().decode("utf-8")
