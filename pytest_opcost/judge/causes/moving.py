"""Causes that move data or wait for it: copies, transfers, values read on the host, tensors built at every step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.judge.causes.delta import FOLLOWING
from pytest_opcost.judge.causes.words import cause, times, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.judge.causes.change import Change
    from pytest_opcost.judge.causes.delta import Cause, Delta

_TO_HOST, _TO_DEVICE = "Memcpy DtoH", "Memcpy HtoD"
_READS = ("item", "_local_scalar_dense", "is_nonzero", "equal")
_READING = ("std", "var")
_BUILT = ("triu", "tril", "eye", "arange", "linspace", "full", "ones", "zeros", "scalar_tensor", "one_hot", "randn")
_COPIES = ("clone", "contiguous", "_to_copy", "copy_", "to")


def transfers(change: Change) -> Iterator[Cause]:
    """Memory is copied between host and device that was not; what single values need is told as reading them."""
    moved = change.deltas(lambda d: d.name != "aten::_local_scalar_dense" and any(_transfers(d, _TO_HOST, _TO_DEVICE)))
    if not moved:
        return
    to_host, to_device = (sum(_transfers(d, way)[0] for d in moved) for way in (_TO_HOST, _TO_DEVICE))
    copies = {d.name for d in change.deltas(lambda d: d.family in ("copy", "wait"))}
    start = next(iter([d for d in change.more("_to_copy", "to") if d.places()] or moved))
    explained = copies | change.at(start.lines()) | {delta.name for delta in moved}
    if to_host > 0 and to_device > 0:
        back = "back" if to_host == to_device else f"{times(to_device, 'copy')} back"
        message = f"{times(to_host, 'copy')} to the host and {back} a step"
        yield cause("host_round_trip", message, start, explained)
    elif to_host > 0 or to_device > 0:
        way = "device to the host" if to_host > 0 else "host to the device"
        message = f"{times(max(to_host, to_device), 'copy')} a step from the {way}"
        yield cause("transfer_added", message, start, explained)


def _transfers(delta: Delta, *ways: str) -> list[int]:
    kernels = (delta.facts[1].kernels, delta.facts[0].kernels)
    now, was = ([sum(n for name, n in counts if name.startswith(way)) for way in ways] for counts in kernels)
    return [max(after - before, 0) for after, before in zip(now, was)]


def read_on_host(change: Change) -> Iterator[Cause]:
    """The value of a tensor is asked for, for which the host waits."""
    reads = change.more(*_READS)
    # On a CPU, some operators read a value themselves.
    if not reads or reads[0].extra <= sum(delta.extra for delta in change.more(*_READING)):
        return
    start = reads[0]
    waits = sum(max(facts[1].syncs - facts[0].syncs, 0) for facts in (delta.facts for delta in reads))
    lines = start.lines()
    explained = {delta.name for delta in reads} | change.at(lines)
    if waits:
        # Where it waits matters more than by which operator.
        added = f"{times(waits, 'device synchronisation')} per step added{where(start)}"
        message = f"{added}: a value is read on the host, {start.name}"
        yield replace(cause("sync_added", message, start, explained), message=message)
    else:
        message = f"{times(start.extra, 'value')} per step read on the host (.item(), float() or a log): {start.name}"
        yield cause("read_on_host", message, start, explained)


def synchronisations(change: Change) -> Iterator[Cause]:
    """The host waits for the device more often, whoever makes it."""
    waiting = change.deltas(lambda d: d.facts[1].syncs > d.facts[0].syncs)
    for delta in waiting[:1]:
        before, after = (facts.syncs for facts in delta.facts)
        message = f"{times(after - before, 'device synchronisation')} per step added: {delta.name}"
        yield cause("sync_added", message, delta, {other.name for other in waiting} | change.at(delta.lines()))


def built_each_step(change: Change) -> Iterator[Cause]:
    """A tensor of constants is made in the step: a mask, positions, a range."""
    built = change.more(*_BUILT)
    if built:
        start = built[0]
        lines = {line for delta in built for line in delta.lines()}
        explained = change.at(lines) | {delta.name for delta in built}
        others = ", ".join(delta.name for delta in built)
        yield cause("built_each_step", f"a tensor is built anew at each step: {others}", start, explained)


def copy_added(change: Change) -> Iterator[Cause]:
    """A copy that there was not."""
    copies = change.more(*_COPIES)
    # A copy that came with another operator is that one's doing.
    others = change.deltas(lambda d: d.extra > 0 and d.family not in FOLLOWING | {"copy"})
    elsewhere = {line for delta in others for line in delta.lines()}
    if copies and not copies[0].lines() & elsewhere and (copies[0].lines() or not others):
        start = copies[0]
        explained = {delta.name for delta in copies} | change.at(start.lines())
        yield cause("copy_added", f"{times(start.extra, 'copy')} a step added: {start.name}", start, explained)
