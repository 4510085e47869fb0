"""A cause, and one operator before and after: what causes are found from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.facts import MOST_PLACES, OpFacts, in_order
from pytest_opcost.judge.matching import SUPPORTING

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_opcost.costs import OpCost
    from pytest_opcost.facts import Counts, Place

#: Families whose operators prepare, wrap or follow others: a change of theirs has its cause elsewhere.
FOLLOWING = SUPPORTING
#: Families of layers that have weights for an optimizer to update.
WITH_PARAMETERS = frozenset({"conv", "addmm", "rnn", "norm", "embedding", "attention"})
_NOTHING = OpFacts()


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a step costs what it costs now: one line, a stable word for programs, and where it starts.

    `op` is the operator (or the setting) that it starts at, `module` and `line` where that is called, empty where it is
    not known or not one place. `explains` are the operators and settings whose findings follow from it.
    """

    kind: str
    message: str
    op: str
    module: str = ""
    line: str = ""
    explains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """One operator before and after; None where it did not run."""

    name: str
    was: OpCost | None
    now: OpCost | None

    @property
    def family(self) -> str:
        """The operator's family."""
        return (self.now or self.was).family  # type: ignore[union-attr]

    @property
    def calls(self) -> tuple[int, int]:
        """Calls a step, before and after."""
        return self.was.calls if self.was else 0, self.now.calls if self.now else 0

    @property
    def extra(self) -> int:
        """How many calls a step were added."""
        return self.calls[1] - self.calls[0]

    @property
    def facts(self) -> tuple[OpFacts, OpFacts]:
        """The exact facts before and after, empty ones where there are none."""
        return tuple(op.facts if op and op.facts else _NOTHING for op in (self.was, self.now))  # type: ignore[return-value]

    def known(self, fact: str) -> bool:
        """Whether these counts are there in full on both sides, and not as a digest."""
        return not any(name.startswith("#") for facts in self.facts for name, _ in getattr(facts, fact))

    def came(self, fact: str) -> Counts:
        """What was added to `inputs` or `kernels`."""
        before, after = (getattr(facts, fact) for facts in self.facts)
        return _more(before, after)

    def went(self, fact: str) -> Counts:
        """What is no longer among `inputs` or `kernels`."""
        before, after = (getattr(facts, fact) for facts in self.facts)
        return _more(after, before)

    def places(self) -> tuple[Place, ...]:
        """Where the change is: the places that are new, or gone where it is called less often, by phase and module; all
        places where none is, or where not all that were there are known.
        """
        before, after = (facts.places for facts in self.facts)
        moved: tuple[Place, ...] = ()
        if self.extra < 0 and self.now is not None:
            moved = _elsewhere(before, after)
        # So many are all that a file keeps; a profile of this run has them all.
        elif self.extra > 0 and self.was is not None and len(before) != MOST_PLACES:
            moved = _elsewhere(after, before)
        return moved or after or before

    def phases(self) -> set[str]:
        """The phases of all places, before and after."""
        return {place.phase for facts in self.facts for place in facts.places}

    def came_at(self, lines: Collection[str]) -> bool:
        """Whether these lines explain it: all of its own, or one of them where it has been at others before."""
        own = self.lines()
        if self.was is not None or self.family == "copy":
            return bool(own & set(lines))
        return bool(own) and own <= set(lines)

    def lines(self) -> set[str]:
        """The source lines of those places."""
        return {place.line for place in self.places() if place.line}

    @property
    def weight(self) -> tuple[bool, float, float]:
        """By how much an operator is the one to name: in the forward, where all else follows from; FLOPs; cost."""
        places = [place.phase for facts in self.facts for place in facts.places]
        times = [max(op.self_host_us, op.self_device_us) for op in (self.was, self.now) if op]
        return "forward" in places or not places, max(facts.flops for facts in self.facts), max(times)


def _elsewhere(places: tuple[Place, ...], others: tuple[Place, ...]) -> tuple[Place, ...]:
    """Those that are not among the others, by phase and module."""
    known = {(place.phase, place.module) for place in others}
    return tuple(place for place in places if (place.phase, place.module) not in known)


def _more(before: Counts, after: Counts) -> Counts:
    counts = dict(before)
    return in_order((name, count - counts.get(name, 0)) for name, count in after if count > counts.get(name, 0))
