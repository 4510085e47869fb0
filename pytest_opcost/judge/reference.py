"""What a step is compared with, and by which rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_opcost.costs import CostProfile

#: Fresh processes before anything fails: a median of fewer says too little.
FEWEST_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Rules:
    """What the user declared: ratios with the change that each may make, and how much dearer an operator may get (None:
    the least effect of its clock). `floor_us` is the least change in microseconds, None for the clock's.

    `tests` is the number of tests whose verdicts are trusted together: their false alarms add up.
    """

    ratios: Mapping[str, float | None]
    tolerance: float | None = None
    floor_us: float | None = None
    tests: int = 1


@dataclass(frozen=True, slots=True)
class Reference:
    """What a step is compared with: a profile whose operators' samples are the rounds of several sessions in order.

    `sessions` are the numbers of rounds of each. `paired` is set where the rounds were made beside those that they are
    compared with, in the same session; `ratios` are the recorded ones, where a file says so.
    """

    profile: CostProfile
    sessions: tuple[int, ...]
    paired: bool = False
    ratios: Mapping[str, float] | None = None
