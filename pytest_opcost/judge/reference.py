"""What a step is compared with, and by which rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_opcost.costs import CostProfile

#: Fresh processes before anything fails: a median of fewer says too little.
FEWEST_ROUNDS = 4
#: From so many on, what is not suspicious is let go: nearly all decisions are made by then.
HALFWAY = 6


@dataclass(frozen=True, slots=True)
class Rules:
    """What the user declared: ratios with the change that each may make, and the least change of an operator that is
    worth telling, as a part of its cost (`tolerance`) and in microseconds a step (`floor_us`), None for the clock's.

    `cheaper_fails` tells whether an operator that became cheaper fails as a dearer one does. `tests` is the number of
    tests whose verdicts are trusted together: their false alarms add up.
    """

    ratios: Mapping[str, float | None]
    tolerance: float | None = None
    floor_us: float | None = None
    cheaper_fails: bool = False
    tests: int = 1


@dataclass(frozen=True, slots=True)
class Reference:
    """What a step is compared with: a profile whose operators' samples are the rounds of several sessions in order.

    `sessions` are the numbers of rounds of each. `paired` is set where the rounds were made beside those that they are
    compared with, in the same session, `in_turns` where both measured at the same time, a few steps each, and then
    `processes` are the numbers of rounds that each process made, in order; `other_torch` where another interpreter made
    them; `ratios` are the recorded ones, where a file says so.
    """

    profile: CostProfile
    sessions: tuple[int, ...]
    paired: bool = False
    in_turns: bool = False
    processes: tuple[int, ...] = ()
    other_torch: bool = False
    ratios: Mapping[str, float] | None = None
