"""Causes that are repetition: a loop over the batch, the model run twice, a forward recomputed in the backward."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_opcost.judge.causes.delta import FOLLOWING
from pytest_opcost.judge.causes.tensors import tensors
from pytest_opcost.judge.causes.words import cause, often

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.judge.causes.change import Change
    from pytest_opcost.judge.causes.delta import Cause, Delta

#: So many different operators must be called that much more often, before it is the model that is.
_LEAST_OPERATORS = 3
_FORWARD, _BOTH = {"forward"}, {"forward", "backward"}


def recomputed(change: Change) -> Iterator[Cause]:
    """Operators that ran in the forward alone, and now in the backward too."""
    again = change.deltas(lambda d: d.was and d.extra > 0 and _computes(d) and _phases(d) == (_FORWARD, _BOTH))
    if len(again) < _LEAST_OPERATORS:
        return
    explained = {delta.name for delta in change.deltas() if delta.extra >= 0 and (delta.was or not _computes(delta))}
    called = f"{again[0].name} is called {often(again[0])}"
    message = f"the forward is recomputed in the backward (activation checkpointing): {called}"
    yield cause("recomputed_in_backward", message, again[0], explained)


def repeated(change: Change) -> Iterator[Cause]:
    """Most operators are called the same number of times as often."""
    computing = change.deltas(lambda d: d.was and d.extra and _computes(d))
    factors = Counter(d.calls[1] // d.calls[0] for d in computing if d.calls[1] % d.calls[0] == 0)
    factor, many = factors.most_common(1)[0] if factors else (0, 0)
    if factor < 2 or many < max(_LEAST_OPERATORS, len(computing) / 2):
        return
    again = [delta for delta in computing if delta.calls[1] == factor * delta.calls[0]]
    families = {delta.family for delta in computing} | FOLLOWING | {"copy"}
    explained = {delta.name for delta in change.deltas() if delta.family in families or not delta.extra}
    why = "a loop over the batch" if any(_smaller(delta, factor) for delta in again) else "the model run again"
    message = f"called {factor} times instead of once: {why}? {again[0].name} is called {often(again[0])}"
    yield cause("called_more_often", message, again[0], explained)


def looped(change: Change) -> Iterator[Cause]:
    """A part of the model is called several times, each time with a part of the batch."""
    computing = change.deltas(lambda d: d.was and d.extra > 0 and _computes(d))
    parts = {delta.name: factor for delta in computing if (factor := _in_parts(delta))}
    if not parts:
        return
    factor = Counter(parts.values()).most_common(1)[0][0]
    first = next(delta for delta in computing if parts.get(delta.name) == factor)
    moving = FOLLOWING | {"copy"}
    explained = {
        delta.name
        for delta in change.deltas()
        if (delta.extra > 0 and delta.extra % (factor - 1) == 0) or (delta.was is None and delta.family in moving)
    }
    message = f"a part of the model runs {factor} times, on a part of the batch each: a loop over the batch?"
    yield cause("called_more_often", f"{message} {first.name} is called {often(first)}", first, explained, partly=True)


def _in_parts(delta: Delta) -> int:
    """Into how many calls some of its calls were split, each with that part of the batch; 0 where none were."""
    went, came = delta.went("inputs"), delta.came("inputs")
    before, after = (sum(count for _, count in counts) for counts in (went, came))
    factor = after // before if before and delta.known("inputs") and after % before == 0 else 0
    return factor if factor > 1 and _smaller(delta, factor) else 0


def _smaller(delta: Delta, factor: int) -> bool:
    """Whether each call takes that part of the batch alone."""
    before, after = (
        {tensor.shape[0] for call, _ in facts.inputs for tensor in tensors(call) if len(tensor.shape) > 1}
        for facts in delta.facts
    )
    return any(size * factor in before for size in after - before)


def _computes(delta: Delta) -> bool:
    return delta.family not in FOLLOWING | {"copy"}


def _phases(delta: Delta) -> tuple[set[str], set[str]]:
    before, after = ({place.phase for place in facts.places} & _BOTH for facts in delta.facts)
    return before, after
