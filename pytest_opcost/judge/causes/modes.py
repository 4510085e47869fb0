"""Causes that are modes left on: autograd, dropout, batch normalisation in training, anomaly detection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge.causes.delta import Cause
from pytest_opcost.judge.causes.words import cause, times
from pytest_opcost.judge.verdict import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.judge.causes.change import Change

#: Fused operators that torch only takes where autograd is off.
_FAST_PATHS = ("_transformer_encoder_layer_fwd", "_native_multi_head_attention")
_MASKS = ("native_dropout", "_fused_dropout", "bernoulli_", "bernoulli")


def autograd(change: Change) -> Iterator[Cause]:
    """Gradients are on where they were off, or the other way round."""
    for finding in change.open():
        if finding.kind is not Kind.AUTOGRAD:
            continue
        was, now = int(finding.baseline or 0), int(finding.current or 0)
        if not was:
            kind, message = "autograd_on", f"autograd is on, {times(now, 'node')} a step: torch.no_grad() is missing"
        elif not now:
            kind, message = "autograd_off", f"autograd is off, it made {times(was, 'node')} a step"
        else:
            kind = "autograd_changed"
            message = f"autograd makes {now} nodes a step (was {was}): a torch.no_grad() came or went"
        slow = change.fewer(*_FAST_PATHS)
        message += f"; without it there was {slow[0].name}" if slow and not was else ""
        explains = {delta.name for delta in change.deltas()} if slow else set()
        yield Cause(kind, message, finding.op, explains=(finding.op, *sorted(explains)))


def dropout(change: Change) -> Iterator[Cause]:
    """Random masks are drawn where none were."""
    drawn = [delta for delta in change.more(*_MASKS) if not delta.was]
    if not drawn:
        return
    lines = drawn[0].lines()
    explained = change.at(lines) | {d.name for d in change.deltas(lambda d: d.family in ("dropout", "random", "copy"))}
    if change.trains():
        kind, message = "dropout_added", f"dropout was added: {drawn[0].name}"
    else:
        kind, message = "dropout_on", f"dropout is on in an inference step: {drawn[0].name} was added"
    yield cause(kind, message, drawn[0], explained)


def batch_norm(change: Change) -> Iterator[Cause]:
    """Batch normalisation counts its batches, which it only does in training."""
    counting = [
        delta for delta in change.more("add_") if any(call.startswith("i64[]") for call, _ in delta.came("inputs"))
    ]
    norms = [op for op in change.new.ops if "batch_norm" in op.name and "backward" not in op.name]
    if not counting or not norms:
        return
    norm = max(norms, key=lambda op: max(op.self_host_us, op.self_device_us))
    delta = counting[0]
    others = {d.name for d in change.deltas() if d.family == "norm"} | change.at(delta.lines())
    why = "" if change.trains() else " in an inference step"
    found = cause("batch_norm_in_training", f"batch normalisation is in training mode{why}: {norm.name}", delta, others)
    yield Cause(found.kind, found.message, norm.name, found.module, found.line, (norm.name, *found.explains))


def anomaly_detection(change: Change) -> Iterator[Cause]:
    """Every gradient is looked at for NaN."""
    looked = change.more("isnan", "any", "_is_any_true")
    if len(looked) < 2 or looked[0].name != "aten::isnan" or not change.trains():
        return
    also = change.more("ne", "item", "_local_scalar_dense", "is_nonzero", "as_strided", "fill_", "eq", "abs", "mul")
    message = f"autograd's anomaly detection is on: {looked[0].name} is called {looked[0].calls[1]} times a step"
    yield cause("anomaly_detection", message, looked[0], {delta.name for delta in (*looked, *also)} | change.at(()))
