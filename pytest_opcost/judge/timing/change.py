"""What was compared by time: one figure's change, and all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.costs import CostProfile

#: The least change worth telling, unless the user says otherwise, as a part of the cost.
HOST_EFFECT, DEVICE_EFFECT = 0.01, 0.003


def least_effect(profile: CostProfile) -> float:
    """The least change worth telling on the clock that counts, as a part of the cost."""
    return DEVICE_EFFECT if profile.clock == "device" else HOST_EFFECT


@dataclass(frozen=True, slots=True)
class Change:
    """One figure's change: an operator's cost or a ratio, before and now.

    `by` is the log of the change beyond what the machine explains, `error` its standard error, `least` the log of the
    least change that is worth telling.
    """

    op: str
    family: str
    before: float
    now: float
    by: float
    error: float
    least: float
    share: float

    @property
    def score(self) -> float:
        """How many standard errors the change lies beyond the least one, in either direction; less than 0 within it."""
        return (abs(self.by) - self.least) / self.error

    def band(self, score: float) -> float:
        """How large a relative change reaches no more than this score, up or down as a factor."""
        return math.expm1(self.least + score * self.error)

    def seen_from(self, score: float) -> float:
        """The smallest relative change that would have reached this score 99 times in 100."""
        return self.band(score + _NINETY_NINE)


#: The 99 % quantile of the normal distribution.
_NINETY_NINE = 2.326


@dataclass(frozen=True, slots=True)
class Changes:
    """All that was compared; `factor` is what the machine made of everything, `degrees` are those behind the errors,
    `now` the rounds as one.
    """

    operators: tuple[Change, ...]
    ratios: tuple[Change, ...]
    factor: float
    degrees: int
    now: CostProfile

    def __iter__(self) -> Iterator[Change]:
        yield from self.ratios
        yield from self.operators
