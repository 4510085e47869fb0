"""Causes that are sizes: another batch, a layer of another width, groups, padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge.causes.delta import FOLLOWING
from pytest_opcost.judge.causes.tensors import pairs, tensors
from pytest_opcost.judge.causes.words import cause
from pytest_opcost.judge.verdict import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.judge.causes.change import Change
    from pytest_opcost.judge.causes.delta import Cause, Delta
    from pytest_opcost.judge.causes.tensors import Tensor

#: FLOPs that changed by less are not worth a word.
_TOLD = 0.01


def layer_resized(change: Change) -> Iterator[Cause]:
    """A layer whose weights changed while what it takes did not: there it starts."""
    for delta in change.deltas(lambda d: d.family in ("conv", "addmm")):
        for (x, weight), (y, other) in _layers(delta):
            if x.shape != y.shape or weight.shape == other.shape:
                continue
            same = weight.shape[0] == other.shape[0] and weight.shape[2:] == other.shape[2:]
            if delta.family == "conv" and same:
                was, now = (x.shape[1] // one.shape[1] for one in (weight, other))
                kind, message = "groups_dropped" if now < was else "groups_added", f"{was} groups became {now}"
            else:
                kind, message = "layer_resized", f"a layer was resized: weights {_shape(weight)} -> {_shape(other)}"
            # Which of the operator's places take which inputs is not known.
            partly = bool(dict(delta.facts[0].inputs).keys() & dict(delta.facts[1].inputs).keys())
            yield cause(kind, f"{message} in {delta.name}{_flops(delta)}", delta, change.following(), partly=partly)
            return


def output_grew(change: Change) -> Iterator[Cause]:
    """A convolution that takes what it took and gives a larger image: its padding, stride or dilation changed."""
    for delta in change.deltas(lambda d: d.family == "conv" and d.known("inputs")):
        kept = dict(delta.facts[0].inputs).keys() & dict(delta.facts[1].inputs).keys()
        grown = [
            (one.shape, two.shape) for other in change.deltas() for before, after in pairs(other)
            for one, two in zip(before[:1], after[:1])
            if len(one.shape) == 4 and one.shape[:2] == two.shape[:2] and one.shape[2:] != two.shape[2:]
        ]  # fmt: skip
        for call in sorted(kept):
            x, weight = tensors(call)[:2]
            sizes = [(one[2:], two[2:]) for one, two in grown if one[:2] == (x.shape[0], weight.shape[0])]
            if sizes:
                was, now = max(sizes)
                word = "grew" if now > was else "shrank"
                message = f"padding or stride: the output {_image(was)} -> {_image(now)} of weights {_shape(weight)}"
                yield cause(f"output_{word}", f"{message} in {delta.name}{_flops(delta)}", delta, change.following())
                return


def input_resized(change: Change) -> Iterator[Cause]:
    """What the step takes has other sizes and no weight has: another batch size, other images or sentences."""
    taking = change.deltas(lambda d: not d.extra and d.family not in FOLLOWING | {"copy"})
    differ = [
        (len(one.shape), axis, a, b)
        for delta in taking
        for before, after in pairs(delta)
        for one, two in zip(before, after)
        for axis, (a, b) in enumerate(zip(one.shape, two.shape))
        if a != b
    ]
    weights = [pair for delta in taking for pair in _layers(delta)]
    if not differ or any(rank == 1 for rank, *_ in differ) or any(one[1].shape != two[1].shape for one, two in weights):
        return
    # Layers see batch and length as one; tensors of more dimensions tell them apart.
    clear = [(axis, a, b) for rank, axis, a, b in differ if rank > 2] or [one[1:] for one in differ if one[1] == 0]
    backends = {finding.op for finding in change.open() if finding.kind is Kind.BACKEND}
    start = next(iter(change.deltas(lambda d: d.name in backends) or taking))
    runs = f": {start.name} runs now" if start.name in backends else f": {start.name}{_flops(start)}"
    _, was, now = max(clear or [one[1:] for one in differ], key=lambda one: (-one[0], one[1]))
    if clear and all(one[0] == 0 for one in clear):
        _, was, now = min(clear)
        yield cause("batch_changed", f"another batch size: {was} became {now}{runs}", start, change.following())
    else:
        message = f"the step's input has other sizes: {was} became {now}{runs}"
        yield cause("input_resized", message, start, change.following())


def _layers(delta: Delta) -> Iterator[tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]]:
    """Activation and weights of a layer's calls, before and after."""
    for before, after in pairs(delta):
        at = slice(1, 3) if delta.name.endswith("addmm") else slice(0, 2)
        one, two = before[at], after[at]
        is_layer = delta.family == "conv" or delta.name.endswith(("addmm", "::linear"))
        if is_layer and len(one) == 2 and "backward" not in delta.name:
            yield one, two  # type: ignore[misc]


def _flops(delta: Delta) -> str:
    was, now = (facts.flops for facts in delta.facts)
    return f", {now / was:.3g} times the FLOPs" if was and now and abs(now / was - 1) >= _TOLD else ""


def _shape(tensor: Tensor) -> str:
    return f"[{','.join(map(str, tensor.shape))}]"


def _image(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))
