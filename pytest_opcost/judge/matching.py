"""Operators that do the same work under other names: matched by family and place, and compared as a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.families import core_of
from pytest_opcost.judge.figures import microseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_opcost.costs import CostProfile, OpCost

#: Families whose operators only prepare or follow others, so that nothing takes their place.
SUPPORTING = frozenset({"view", "allocate", "autograd", "fill", "query"})
_UNMATCHED = SUPPORTING | {"runtime", "wait"}
#: Families of many different works, in which only the same work under another name (`relu` for `relu_`) is matched.
_MIXED = frozenset({"elementwise", "copy", "reduce", "index", "random", "foreach"})


@dataclass(frozen=True, slots=True)
class Match:
    """Operators of one family that did some work before, and those that do it now."""

    family: str
    old: tuple[OpCost, ...]
    new: tuple[OpCost, ...]

    @property
    def names(self) -> set[str]:
        """The names on both sides."""
        return {op.name for op in (*self.old, *self.new)}

    @property
    def went(self) -> list[str]:
        """The names of those that are called less often now."""
        return _more_often(self.old, self.new)

    @property
    def came(self) -> list[str]:
        """The names of those that are called more often now."""
        return _more_often(self.new, self.old)

    def costs_us(self, old: CostProfile, new: CostProfile) -> tuple[float, float]:
        """What the group cost and costs, microseconds of self time a step on the clock that counts."""
        return sum(map(old.cost_us, self.old)), sum(map(new.cost_us, self.new))

    def costs_in_words(self, old: CostProfile, new: CostProfile) -> str:
        """`812 us a step (was 400 us)`."""
        before, after = self.costs_us(old, new)
        return f"{microseconds(after)} a step (was {microseconds(before)})"


def matched(old: CostProfile, new: CostProfile) -> tuple[Match, ...]:
    """Groups of operators that took one another's place: what is called less often before, what is called more often
    now, of one family and at the same places (phase and module). Operators of one group may be on both sides, where
    another one took only some of their calls. Places that are not known, or all of which have other names now, are no
    reason to keep operators apart.
    """
    was, now = old.by_name(), new.by_name()
    fewer = [op for op in old.ops if op.family not in _UNMATCHED and _calls(now.get(op.name)) < op.calls]
    more = [op for op in new.ops if op.family not in _UNMATCHED and _calls(was.get(op.name)) < op.calls]
    found = []
    for family, before, after in _by_work(fewer, more):
        for one, two in _by_place(before, after):
            # Those that kept some of their calls are part of the group's cost on both sides.
            kept = [now[op.name] for op in one if op.name in now]
            shared = [was[op.name] for op in two if op.name in was]
            found.append(Match(family, (*one, *shared), (*two, *kept)))
    return tuple(found)


def _more_often(some: Iterable[OpCost], others: Iterable[OpCost]) -> list[str]:
    calls = {op.name: op.calls for op in others}
    return [op.name for op in some if op.calls > calls.get(op.name, 0)]


def _calls(op: OpCost | None) -> int:
    return op.calls if op is not None else 0


def _by_work(fewer: list[OpCost], more: list[OpCost]) -> Iterator[tuple[str, list[OpCost], list[OpCost]]]:
    def work(op: OpCost) -> tuple[str, str]:
        return op.family, core_of(op.name) if op.family in _MIXED else ""

    for key in dict.fromkeys(map(work, fewer)):
        before, after = ([op for op in ops if work(op) == key] for ops in (fewer, more))
        if after:
            yield key[0], before, after


def _by_place(before: list[OpCost], after: list[OpCost]) -> Iterator[tuple[list[OpCost], list[OpCost]]]:
    """Operators whose places overlap, directly or by way of others; all of them where none do."""
    groups: list[tuple[list[OpCost], list[OpCost]]] = []
    for side, ops in enumerate((before, after)):
        for op in ops:
            near = [group for group in groups if any(_share(op, other) for half in group for other in half)]
            joined: tuple[list[OpCost], list[OpCost]] = ([], [])
            for half, mine in enumerate(joined):
                mine += [other for group in near for other in group[half]] + ([op] if half == side else [])
            groups = [group for group in groups if group not in near] + [joined]
    whole = [group for group in groups if group[0] and group[1]]
    yield from whole or [(before, after)]


def _share(one: OpCost, other: OpCost) -> bool:
    places, others = _places(one), _places(other)
    return not places or not others or bool(places & others)


def _places(op: OpCost) -> set[tuple[str, str]]:
    return {(place.phase, place.module) for place in op.facts.places} if op.facts else set()
