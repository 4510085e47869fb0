"""From how many standard errors on a change is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_opcost.judge.timing.change import Changes

#: False alarms in a run of clean tests: at most one in a thousand runs.
FALSE_ALARMS = 0.001


def critical_score(compared: Changes, tests: int) -> float:
    """The score above which a change fails: Student's quantile, the error rate shared out among all that is compared
    in so many tests (Bonferroni, since one clean figure that fails is one too many).
    """
    from scipy.special import stdtrit

    figures = max(len(compared.operators) + len(compared.ratios), 1) * tests
    return float(-stdtrit(max(compared.degrees, 1), FALSE_ALARMS / figures))
