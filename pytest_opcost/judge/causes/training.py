"""Causes that lie in how a model is trained: the optimizer's loop, gradients set to zero, dense gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge.causes.delta import FOLLOWING
from pytest_opcost.judge.causes.words import cause, times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.judge.causes.change import Change
    from pytest_opcost.judge.causes.delta import Cause, Delta


def foreach_off(change: Change) -> Iterator[Cause]:
    """Operators over all parameters at once are gone."""
    gone = change.deltas(lambda d: d.family == "foreach" and d.now is None and "_amp_" not in d.name)
    word = "fused" if any("_fused_" in delta.name for delta in gone) else "foreach"
    other = change.deltas(lambda d: d.family == "foreach" and d.extra > 0 and f"_{word}_" in d.name)
    if not gone or any("_zero_" not in delta.name for delta in other):
        return
    single = {delta.name.replace("_foreach_", "").removesuffix("_") for delta in gone}
    names = {
        delta.name
        for delta in change.deltas()
        if delta.family in FOLLOWING | {"copy", "foreach"}
        or _in_optimizer(delta)
        or delta.name.removesuffix("_") in single
    }
    more = f" and {len(gone) - 1} more are" if len(gone) > 1 else " is"
    yield cause(f"{word}_off", f"the optimizer no longer runs {word}: {gone[0].name}{more} gone", gone[0], names)


def _in_optimizer(delta: Delta) -> bool:
    return any({place.phase for place in facts.places} == {"optimizer"} for facts in delta.facts)


def optimizer_changed(change: Change) -> Iterator[Cause]:
    """The optimizer computes what it did not: another one, weight decay, another option."""
    moved = change.deltas(lambda d: d.extra and d.family not in FOLLOWING | {"copy"} and _in_optimizer(d))
    if not moved or not any(delta.was is None or delta.now is None for delta in moved):
        return
    start = max(moved, key=lambda delta: (delta.extra > 0, delta.weight))
    verb = "runs" if start.extra > 0 else "no longer runs"
    more = f" and {len(moved) - 1} more" if len(moved) > 1 else ""
    explained = {d.name for d in change.deltas() if "optimizer" in d.phases() or d.family in FOLLOWING}
    yield cause("optimizer_changed", f"the optimizer {verb} {start.name}{more}", start, explained)


def gradients_zeroed(change: Change) -> Iterator[Cause]:
    """Gradients are filled with zeros and added to, instead of dropped and replaced."""
    zeroed, added = change.more("_foreach_zero_", "zero_", "fill_"), change.more("add_", "add")
    kept = change.fewer("detach") or change.more("accumulate_grad")
    if not zeroed or not added or not kept:
        return
    many = -kept[0].extra if kept[0].extra < 0 else added[0].extra
    message = (
        "gradients are set to zero instead of dropped (zero_grad(set_to_none=False)): "
        f"{times(many, 'addition')} and {zeroed[0].name} added"
    )
    explained = {delta.name for delta in (*zeroed, *added)} | change.at(())
    yield cause("gradients_zeroed", message, zeroed[0], explained)


def dense_gradient(change: Change) -> Iterator[Cause]:
    """An embedding's gradient holds every row, not only those that were looked up."""
    dense, sparse = change.more("embedding_dense_backward"), change.fewer("embedding_sparse_backward")
    if dense and sparse:
        reached = FOLLOWING | {"copy", "embedding"}
        explained = {delta.name for delta in change.deltas() if delta.extra <= 0 or delta.family in reached}
        message = f"an embedding's gradient became dense: {dense[0].name} where {sparse[0].name} was"
        yield cause("dense_gradient", message, dense[0], explained)
