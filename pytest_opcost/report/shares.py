"""What share of a step each family of operators takes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.results import CheckResult

#: More families of operators are not compared.
MOST_FAMILIES = 4


def dearest_families(members: Sequence[CheckResult]) -> list[str]:
    """The families of operators, by the sum of their shares in all of these results."""
    shares: dict[str, float] = defaultdict(float)
    for one in members:
        for op in one.profile.ops:
            shares[op.family] += op.share
    return sorted(shares, key=lambda family: -shares[family])


def family_share(result: CheckResult, family: str) -> float:
    """The share of a step that one family of operators takes."""
    return sum(op.share for op in result.profile.ops if op.family == family)
