"""Imported profiles -> the results of a run that measured nothing: what `--opcost-json` writes."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pytest_opcost.costs import ratio_forms
from pytest_opcost.families import DEFAULT_RATIO
from pytest_opcost.judge import Outcome, Verdict
from pytest_opcost.results import CheckResult, RunResults, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.imports.known import Known

#: Operators that reports show, as a run without options does.
_TOP = 10


def result_of(profile: CostProfile, name: str, known: Known, check: str | None = None) -> CheckResult:
    """A profile as a check that was compared with nothing. `name` stands for the test's id."""
    subject = Subject(name, check, name, profile.environment.device, known.batch_size)
    forms = ratio_forms(profile, [DEFAULT_RATIO])
    return CheckResult(
        subject=subject,
        profile=profile,
        verdict=Verdict(Outcome.NOT_JUDGED),
        ratios={form: value for form in forms if (value := profile.ratio(form)) is not None},
        baseline="",
        baseline_ratios={},
        compared=False,
        top=_TOP,
        origin="imported",
    )


def run_of(results: Sequence[CheckResult]) -> RunResults:
    """The results of all that was imported together."""
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return RunResults([one.profile.environment for one in results], results, (), now)
