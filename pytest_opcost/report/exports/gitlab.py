"""GitLab's metrics report (`artifacts:reports:metrics`): few figures, which a merge request shows beside its target's.

`opcost_step_us` (microseconds), `opcost_ratio` and `opcost_drifted` (0 or 1), with the labels `test` (the check's name
behind), `ratio` and `machine`. GitLab compares values as text, so they have three digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge import Outcome
from pytest_opcost.report.exports.exported import checks_of, title_of
from pytest_opcost.report.exports.metrics_text import Family, Sample, metrics_text

if TYPE_CHECKING:
    from pytest_opcost.results import CheckResult, RunResults


def export(run: RunResults) -> str:
    """The text: OpenMetrics of which GitLab's reader, a shell's splitting of lines, understands every line."""
    checks = checks_of(run)
    steps = [Sample(_short(one.profile.wall_us), _labels(one)) for one in checks]
    ratios = [
        Sample(_short(value), _labels(one, ratio=form)) for one in checks for form, value in one.ratios.items()
    ]  # fmt: skip
    drifted = [Sample(one.verdict.outcome is Outcome.DRIFTED, _labels(one)) for one in checks]
    return metrics_text(
        [
            Family("opcost_drifted", "Whether the check drifted from what it was compared with.", drifted),
            Family("opcost_step_us", "Microseconds of one step on the wall.", steps, "us"),
            Family("opcost_ratio", "What one side of a declared ratio costs, by the other.", ratios),
        ]
    )


def _labels(result: CheckResult, **more: str) -> dict[str, str | None]:
    # GitLab takes a number sign for the begin of a comment, quoted or not: the wide one reads the same.
    test = title_of(result).replace("#", "\uff03")
    return {"test": test, **more, "machine": result.profile.environment.machine_key}


def _short(value: float) -> float:
    return float(f"{value:.3g}")
