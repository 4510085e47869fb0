"""Which rounds do not compare: those of a core that was shared, beside those of one that was not.

Two threads of a core belong to different guests of a machine now and then. Then operators are dearer by 4 % to 60 %,
each by its own part, for seconds or for minutes (measured, AMD EPYC). The pace of fixed code tells it, which no
statistics over operators would do as well. Where there is more work than cores, operators that last longer than a
thread may stay on its core are never seen without a pause.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.judge.reference import FEWEST_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_opcost.costs import CostProfile

#: The pace of an undisturbed core varies by 1 % between processes, a neighbour slows it down by 37 % or more.
SAME_PACE = 0.08
#: Loads up to 1 are other cores' work, which costs little; beyond, the thread waited for a tenth of it, see `load.py`.
SAME_LOAD = 1.2
#: What is assumed of a baseline that does not know its pace: the usual difference that a neighbour makes.
UNKNOWN = math.log(1.4)
#: So many rounds one after the other that are no calmer, and the neighbour is there to stay.
_PATIENCE = 2


def slower(old: CostProfile, new: CostProfile) -> float:
    """The log of how much longer the same code took in the new one.

    Where only one of them knows, as with a baseline of before paces were read, it may be as much as a neighbour does.
    """
    if old.pace_us > 0 and new.pace_us > 0:
        return math.log(new.pace_us / old.pace_us)
    return UNKNOWN if old.pace_us != new.pace_us else 0.0


def comparable(old: CostProfile, new: CostProfile) -> bool:
    """Whether both had the core in the same way: their host times say something of each other."""
    return old.clock == "device" or (abs(slower(old, new)) <= SAME_PACE and abs(new.load - old.load) <= SAME_LOAD)


def undisturbed(old: CostProfile, rounds: Sequence[CostProfile]) -> list[CostProfile]:
    """The rounds that compare with the old one."""
    return [one for one in rounds if comparable(old, one)]


def calmest(rounds: Sequence[CostProfile]) -> list[CostProfile]:
    """The rounds that were made as calmly as the calmest of them."""
    paces = [one.pace_us for one in rounds if one.pace_us > 0]
    calm = replace(rounds[0], pace_us=min(paces, default=0.0), load=min(one.load for one in rounds))
    return undisturbed(calm, rounds)


def calm_rounds(rounds: Sequence[CostProfile], another: Callable[[], CostProfile], count: int) -> Sequence[CostProfile]:
    """Of these rounds the calm ones, and for those on a shared core others in their place, as far as they are calm:
    what a baseline of `count` rounds is made of. All of them where too few are calm.
    """
    patience = _PATIENCE
    while len(calm := calmest(rounds)) < count and patience:
        rounds = [*rounds, another()]
        patience = _PATIENCE if len(calmest(rounds)) > len(calm) else patience - 1
    return calm if len(calm) >= min(FEWEST_ROUNDS, count) else rounds


def alike(head: Sequence[CostProfile], base: Sequence[CostProfile]) -> list[int]:
    """The numbers of the pairs of rounds whose two sides compare."""
    return [number for number, (one, other) in enumerate(zip(head, base)) if comparable(other, one)]


def disturbance(old: CostProfile, new: CostProfile) -> Iterator[str]:
    """What is to be said where the new one does not compare with the old one, a baseline."""
    if comparable(old, new):
        return
    if old.pace_us == 0 < new.pace_us:
        yield "the baseline does not know whether its core was shared: record it anew, until then it sees large changes"
        return
    by = slower(old, new)
    longer = f"{100 * math.expm1(abs(by)):.0f} % longer"
    if by > SAME_PACE:
        yield f"a neighbour shared the core: fixed code took {longer}, so that only large changes are seen"
    elif by < -SAME_PACE:
        yield f"the baseline was made on a shared core: fixed code took {longer} then, so record it anew"
    elif new.load > old.load:
        yield "there was more work than cores: the thread had to wait, so that only large changes are seen"
    else:
        yield "the baseline was made with more work than cores: the thread had to wait then, so record it anew"
