"""What the exports have in common: which checks and operators they hold, and names that fit on a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_opcost.report.saving import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.costs import OpCost
    from pytest_opcost.results import CheckResult, RunResults


def checks_of(run: RunResults) -> list[CheckResult]:
    """Every check once: of a test that ran again, the last one."""
    return list({(one.subject.test, one.subject.check): one for one in run.checks}.values())


def dearest(result: CheckResult) -> tuple[OpCost, ...]:
    """The operators that are exported one by one, dearest first: `--opcost-top` of them, those that cost nothing left
    out.
    """
    profile = result.profile
    return tuple(op for op in profile.top(result.top)[0] if profile.cost_us(op) > 0)


def title_of(result: CheckResult) -> str:
    """The test's id with the check's name behind, on one line."""
    return printable(result.subject.title)


def json_text(document: object) -> str:
    """The document as JSON of ASCII alone. Raises ValueError for a figure that is none, such as an infinite one."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def half_range(samples: Sequence[float]) -> float | None:
    """Half of what lies between the least and the greatest; None for fewer than two."""
    return (max(samples) - min(samples)) / 2 if len(samples) > 1 else None
