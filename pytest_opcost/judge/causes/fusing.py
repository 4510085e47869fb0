"""Causes that are the same work in other operators: a fused one split, one no longer in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge.causes.delta import FOLLOWING
from pytest_opcost.judge.causes.words import cause, listed
from pytest_opcost.judge.facts import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.judge.causes.change import Change
    from pytest_opcost.judge.causes.delta import Cause, Delta

#: Fused operators, by family or by name, and the families and names of all the parts that they are split into.
_PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("attention", ("addmm", "softmax")),
    ("attention", ("attention", "addmm")),
    ("rnn", ("addmm",)),
    ("rnn", ("rnn",)),
    ("aten::addmm", ("aten::mm", "elementwise")),
    ("norm", ("reduce", "elementwise")),
    ("softmax", ("reduce", "elementwise")),
    ("loss", ("reduce", "elementwise")),
)


def fused_split(change: Change) -> Iterator[Cause]:
    """A fused operator is gone, or called less, and all of its parts came."""
    for fused, parts in _PARTS:
        gone = change.deltas(lambda d: fused in (d.family, d.name) and d.extra < 0)  # noqa: B023
        came = [change.deltas(lambda d: part in (d.family, d.name) and d.extra > 0) for part in parts]  # noqa: B023
        if not gone or not all(came):
            continue
        new = [deltas[0] for deltas in came]
        start = _shortest(gone)
        lines = {line for deltas in came for delta in deltas for line in delta.lines()}
        modules = {place.module for delta in (*gone, *new) for place in delta.places()}
        explained = change.at(lines) | {delta.name for deltas in (gone, *came) for delta in deltas}
        explained |= {d.name for d in change.deltas() if {p.module for p in d.places()} & modules and d.extra > 0}
        explained |= {d.name for d in change.deltas(lambda d: d.family in FOLLOWING | {"copy"} or not d.extra)}
        explained |= {d.name for d in change.deltas(lambda d: d.family in ("elementwise", "addmm") and d.extra < 0)}
        message = f"a fused operator was split: {start.name} -> {listed([d.name for d in new])}"
        yield cause("fused_split", message, new[0] if not start.places() else start, explained)
        return


def in_place_lost(change: Change) -> Iterator[Cause]:
    """`relu_` became `relu`, or the other way round; all that did is one cause."""
    switched = change.deltas(lambda d: d.family not in FOLLOWING | {"copy"} and _other_form(change, d) is not None)
    came = [delta for delta in switched if delta.extra > 0]
    if not came:
        return
    start, gone = came[0], _other_form(change, came[0])
    lost = not start.name.endswith("_")
    allocated = sum(delta.facts[1].alloc_bytes for delta in came)
    word = "no longer in place" if lost else "in place now"
    more = f", {size(allocated)} more allocated a step" if lost and allocated else ""
    message = f"{gone.name if gone else ''} became {start.name}: {word}{more}"
    explained = {delta.name for delta in switched} | change.at(())
    yield cause("in_place_lost" if lost else "in_place_gained", message, start, explained)


def _other_form(change: Change, delta: Delta) -> Delta | None:
    """The same operator in place, or not in place, which took over or lost these calls."""
    name = delta.name.removesuffix("_") if delta.name.endswith("_") else f"{delta.name}_"
    other = change.get(name)
    return other if other is not None and delta.extra and other.extra == -delta.extra else None


def _shortest(deltas: list[Delta]) -> Delta:
    """The one that users know: `scaled_dot_product_attention`, not what it runs."""
    return min(deltas, key=lambda delta: len(delta.name))
