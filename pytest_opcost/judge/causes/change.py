"""What differs between two profiles, operator by operator, as far as nothing has explained it yet."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_opcost.families import ENGINE_WRAPPER
from pytest_opcost.judge.causes.delta import FOLLOWING, WITH_PARAMETERS, Delta
from pytest_opcost.judge.verdict import EXACT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.judge.verdict import Finding

_NO_OPERATORS = frozenset({"runtime"})
#: Where a backward adds a parameter's gradient to what is there, `add_`.
_ACCUMULATE = "torch::autograd::AccumulateGrad"


@dataclass(frozen=True)
class Change:
    """Two profiles, the exact findings between them, and the operators that differ, by name.

    `explained` are the operators and settings that some cause explains: all questions are about the others.
    """

    old: CostProfile
    new: CostProfile
    findings: tuple[Finding, ...]
    explained: frozenset[str] = frozenset()
    _deltas: Mapping[str, Delta] = field(default_factory=dict)

    @classmethod
    def between(cls, old: CostProfile, new: CostProfile, findings: Iterable[Finding]) -> Change:
        """The change that these findings tell of."""
        exact = tuple(finding for finding in findings if finding.kind in EXACT)
        was, now = old.by_name(), new.by_name()
        told = {finding.op for finding in exact}
        deltas = {
            name: Delta(name, was.get(name), now.get(name))
            for name in {**now, **was}
            if not name.startswith(ENGINE_WRAPPER) and (now.get(name) or was[name]).family not in _NO_OPERATORS
        }
        unsteady = {op.name for op in (*old.ops, *new.ops) if op.varying}
        return cls(old, new, exact, _deltas={
            name: delta for name, delta in deltas.items() if name in told or (delta.extra and name not in unsteady)
        } if exact else {})  # fmt: skip

    def without(self, names: Iterable[str]) -> Change:
        """The same, with these explained."""
        return replace(self, explained=self.explained | set(names))

    def deltas(self, wanted: Callable[[Delta], object] = lambda _: True) -> list[Delta]:
        """The open operators that are wanted, in the order of their weight."""
        found = [delta for name, delta in self._deltas.items() if name not in self.explained and wanted(delta)]
        return sorted(found, key=lambda delta: delta.weight, reverse=True)

    def get(self, name: str) -> Delta | None:
        """One open operator."""
        return self._deltas.get(name) if name not in self.explained else None

    def more(self, *names: str) -> list[Delta]:
        """The open ones of these operators of ATen that are called more often, in this order."""
        found = (self.get(f"aten::{name}") for name in names)
        return [delta for delta in found if delta is not None and delta.extra > 0]

    def fewer(self, *names: str) -> list[Delta]:
        """The open ones of these operators of ATen that are called less often, in this order."""
        found = (self.get(f"aten::{name}") for name in names)
        return [delta for delta in found if delta is not None and delta.extra < 0]

    def open(self) -> Iterator[Finding]:
        """The findings that nothing explains."""
        return (finding for finding in self.findings if finding.op not in self.explained)

    def trains(self) -> bool:
        """Whether the step runs a backward."""
        return any(op.family == "autograd" and "Backward" in op.name for op in self.new.ops)

    def at(self, lines: Collection[str]) -> set[str]:
        """The open operators that came at these lines, and what only prepares, wherever it is."""
        return {
            delta.name
            for delta in self.deltas()
            if delta.family in FOLLOWING or (delta.extra > 0 and delta.came_at(lines))
        }

    def beside(self, delta: Delta) -> set[str]:
        """The open operators that follow from this one: at its lines whether they came or take other inputs, and, for
        the parameters of a new layer, what the optimizer does and the sums that their gradients are added to.
        """
        lines = delta.lines()
        sums = self.get(_ACCUMULATE) if delta.family in WITH_PARAMETERS else None
        return self.at(lines) | {
            other.name
            for other in self.deltas()
            if (not other.extra and other.lines() and other.lines() <= lines)
            or (other.extra > 0 and "optimizer" in other.phases() and delta.family in WITH_PARAMETERS)
            or (sums is not None and other.name in (_ACCUMULATE, "aten::add_") and other.extra == sums.extra > 0)
        }

    def following(self) -> set[str]:
        """The open operators that follow from another change of the step: those called as often as before, but not on
        the same; other backends of a family; what only prepares.
        """
        moved = {sign: {d.family for d in self.deltas(lambda d: d.extra * sign > 0)} for sign in (1, -1)}  # noqa: B023
        other_backends = moved[1] & moved[-1]
        return {
            delta.name for delta in self.deltas()
            if not delta.extra or delta.family in FOLLOWING | other_backends | {"copy"}
        }  # fmt: skip
