"""What is told where nothing better is known: an operator more or less, other inputs, more memory, more time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge.causes.delta import FOLLOWING, WITH_PARAMETERS, Cause, Delta
from pytest_opcost.judge.causes.words import cause, listed, often, where
from pytest_opcost.judge.facts import size
from pytest_opcost.judge.figures import signed, unsigned
from pytest_opcost.judge.verdict import EXACT, Kind

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.judge.causes.change import Change
    from pytest_opcost.judge.verdict import Finding

#: The kind of cause that is none: all that is exact is as it was.
TIME_ONLY = "time_only"
_WORDS = {Kind.DEARER: "more", Kind.CHEAPER: "less"}
_KINDS = {Kind.INPUTS: "inputs_changed", Kind.FLOPS: "flops_changed", Kind.SYNCS: "syncs_changed"}


def operators(change: Change) -> Iterator[Cause]:
    """Operators that came, went, or are called more or less often; with each what came and went at its line."""
    while deltas := [d for d in change.deltas(lambda d: d.extra) if _fails(change, d.name)]:
        leading = [delta for delta in deltas if delta.family not in FOLLOWING] or deltas
        delta = max(leading, key=_rank)
        if delta.was is None:
            kind, message = "operator_added", f"{delta.name} was added, {often(delta)}"
        elif delta.now is None:
            kind, message = "operator_gone", f"{delta.name} is gone, {often(delta)}"
        else:
            word = "more" if delta.extra > 0 else "less"
            kind, message = f"called_{word}_often", f"{delta.name} is called {often(delta)}"
        gone = [one for one in deltas if one.family == delta.family and one.extra < 0 < delta.extra]
        message += f", where {listed([one.name for one in gone])} was" if gone else ""
        found = cause(kind, message, delta, change.beside(delta) | {one.name for one in gone})
        yield found
        change = change.without(found.explains)


def facts(change: Change) -> Iterator[Cause]:
    """Operators that are called as often, on other inputs or with other kernels; memory last."""
    for finding in change.open():
        if not finding.fails or (delta := change.get(finding.op)) is None or delta.extra:
            continue
        if finding.kind is Kind.MEMORY:
            before, after = (one.alloc_bytes for one in delta.facts)
            word = "doubled" if after == 2 * before else "grew" if after > before else "shrank"
            message = f"bytes allocated {word} in {delta.name}: {size(after)} a step (was {size(before)})"
            yield cause("allocation_grew" if after > before else "allocation_shrank", message, delta)
        elif finding.kind in _KINDS:
            yield Cause(_KINDS[finding.kind], f"{finding.message}{where(delta)}", delta.name, explains=(delta.name,))
    for finding in change.open():
        if finding.kind is Kind.SETTING:
            yield Cause("setting_changed", finding.message, finding.op, explains=(finding.op,))


def time_only(
    findings: Iterable[Finding], old: CostProfile, new: CostProfile, explained: Container[str] = ()
) -> Iterator[Cause]:
    """One cause for all that costs more, or less where that fails too, though nothing differs; not for what is
    `explained`. It has a place where the operator has one alone.
    """
    findings = [finding for finding in findings if finding.op not in explained]
    moved = [finding for finding in findings if finding.fails and finding.kind in (*_WORDS, Kind.RATIO)]
    if moved:
        first = max(moved, key=lambda finding: (finding.kind in _WORDS, abs(finding.change)))
        amount = unsigned(first.change)
        word = "the" if amount.endswith("times") else _WORDS.get(first.kind)
        told = f"{amount} {word} time in {first.op}" if first.kind in _WORDS else f"{first.op} {signed(first.change)}"
        names = tuple(dict.fromkeys((first.op, *(finding.op for finding in moved))))
        others = explained or any(finding.kind in EXACT for finding in findings)
        delta = Delta(first.op, old.by_name().get(first.op), new.by_name().get(first.op))
        place = where(delta) if len({(one.module, one.line) for one in delta.places()}) == 1 else ""
        if others:
            message = f"{told}{place}, with no exact difference there"
        else:
            message = f"no exact difference: same operators, same kernels, {told}{place}"
        yield Cause(TIME_ONLY, message, first.op, explains=names)


def _rank(delta: Delta) -> tuple[object, ...]:
    """What came before what went, layers before what is around them, and copies last."""
    return delta.extra > 0, delta.family != "copy", delta.family in WITH_PARAMETERS, delta.was is None, delta.weight


def _fails(change: Change, name: str) -> bool:
    return any(finding.op == name and finding.fails for finding in change.open())
