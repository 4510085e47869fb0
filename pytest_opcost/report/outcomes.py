"""How the checks of a run ended, counted in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_opcost.judge import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_opcost.results import CheckResult


def outcomes_text(results: Iterable[CheckResult]) -> str:
    """`5 passed, 1 drifted`; empty where there is no result."""
    counts = Counter(result.verdict.outcome for result in results)
    return ", ".join(f"{counts[outcome]} {outcome.words}" for outcome in Outcome if counts[outcome])
