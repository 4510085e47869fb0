"""Causes that are element types: float64 by accident, half precision lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge.causes.delta import FOLLOWING
from pytest_opcost.judge.causes.tensors import HALVES, types
from pytest_opcost.judge.causes.words import cause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.judge.causes.change import Change
    from pytest_opcost.judge.causes.delta import Cause, Delta

_COMPUTING = frozenset({"conv", "addmm", "attention", "rnn"})


def float64(change: Change) -> Iterator[Cause]:
    """Operators that compute in float64 now. It starts where float32 meets it, else where most is computed."""
    doubles = change.deltas(lambda d: "f64" in types(d.came("inputs")) and "f64" not in types(d.facts[0].inputs))
    computing = [delta for delta in doubles if delta.family not in FOLLOWING | {"copy"}]
    if not computing:
        return
    mixing = [delta for delta in computing if "f32" in types(delta.came("inputs"))]
    start = (mixing or computing)[0]
    families = {delta.family for delta in doubles} | FOLLOWING | {"copy"}
    explained = {delta.name for delta in change.deltas() if delta.family in families or delta in doubles}
    took = "float32 and float64" if mixing else "float64"
    yield cause("float64", f"float64 by accident: {start.name} takes {took}, took float32", start, explained)


def half_lost(change: Change) -> Iterator[Cause]:
    """Operators that computed in half precision and no longer do."""
    for half, called in HALVES.items():
        lost = [delta for delta in _computing(change) if half in _types(delta)[0] - _types(delta)[1]]
        if lost:
            casts = change.fewer("_to_copy", "to")
            kind, word = ("autocast_lost", "autocast") if casts else ("half_lost", called)
            explained = {d.name for d in change.deltas() if d.extra <= 0 or d.family not in _COMPUTING}
            explained |= change.following()
            yield cause(kind, f"{word} lost: {called} -> float32 in {lost[0].name}", lost[0], explained)
            return


def half_gained(change: Change) -> Iterator[Cause]:
    """Operators that compute in half precision now: seldom dearer, but other kernels."""
    for half, called in HALVES.items():
        gained = [delta for delta in _computing(change) if half in _types(delta)[1] - _types(delta)[0]]
        if gained:
            explained = {d.name for d in change.deltas() if not d.extra or d.family not in _COMPUTING or d in gained}
            yield cause("half_on", f"{called} instead of float32 in {gained[0].name}", gained[0], explained)
            return


def _computing(change: Change) -> list[Delta]:
    """What computes, and took and takes known types, one of which was float32."""
    return change.deltas(
        lambda d: d.family in _COMPUTING and d.known("inputs") and all(_types(d)) and "f32" in set.union(*_types(d))
    )


def _types(delta: Delta) -> tuple[set[str], set[str]]:
    """The element types before and after."""
    before, after = (types(facts.inputs) for facts in delta.facts)
    return before, after
