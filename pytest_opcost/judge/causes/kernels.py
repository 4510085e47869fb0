"""Causes that only kernels tell: layouts, reorders, another implementation of the same operator, another backend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_opcost.judge.causes.delta import FOLLOWING
from pytest_opcost.judge.causes.words import cause, listed, times
from pytest_opcost.judge.matching import matched
from pytest_opcost.judge.verdict import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.judge.causes.change import Change
    from pytest_opcost.judge.causes.delta import Cause, Delta

#: oneDNN's primitive that changes a layout, and cuDNN's kernels that do.
_REORDER = re.compile(r"reorder\b|\w*nchwToNhwc|\w*nhwcToNchw", re.IGNORECASE)
_CHANNELS_LAST = re.compile(r"brg|brdgmm|nhwc|channels_last", re.IGNORECASE)


def layout(change: Change) -> Iterator[Cause]:
    """Memory is reordered around convolutions: their inputs lie otherwise than they want them."""
    deltas = change.deltas(lambda d: d.family == "conv" and not d.extra and _added(d) > 0)
    if not deltas:
        return
    start = deltas[0]
    added = f"{times(_added(start), 'layout reorder')} added"
    explained = {delta.name for delta in change.deltas() if delta.family in FOLLOWING | {"conv", "copy"}}
    if any(_CHANNELS_LAST.search(name) for name, _ in start.went("kernels")):
        message = f"channels_last lost: {added} in {start.name}{_became(start)}"
        yield cause("channels_last_lost", message, start, explained)
    else:
        yield cause("reorders_added", f"{added} before {start.name}", start, explained)


def layout_of_kernels(change: Change) -> Iterator[Cause]:
    """Convolutions, pooling and normalisation whose kernels for channels_last are gone."""
    for delta in change.deltas(lambda d: d.family in ("conv", "pool", "norm") and not d.extra):
        was, now = (
            sum(n for name, n in facts.kernels if _CHANNELS_LAST.search(name) and not _REORDER.match(name))
            for facts in delta.facts
        )
        if was > now:
            reached = FOLLOWING | {"conv", "norm", "pool", "elementwise", "copy"}
            explained = {d.name for d in change.deltas() if d.family in reached}
            message = f"channels_last lost: {delta.name}{_became(delta)}"
            yield cause("channels_last_lost", message, delta, explained)
            return


def backend(change: Change) -> Iterator[Cause]:
    """Other operators do the same work: each group with what it cost and costs."""
    for finding in change.open():
        if finding.kind is not Kind.BACKEND or (delta := change.get(finding.op)) is None:
            continue
        groups = [group for group in matched(change.old, change.new) if finding.op in group.names]
        explained = {d.name for d in change.deltas() if d.family in FOLLOWING | {"copy"}}
        message = finding.message
        if groups:
            group = groups[0]
            before, after = ([op.name for op in ops] for ops in (group.old, group.new))
            became = f"{listed(before)} became {listed([name for name in after if name not in before])}"
            message, explained = f"{became}, {group.costs_in_words(change.old, change.new)}", explained | group.names
        yield cause("backend_changed", message, delta, explained)


def kernel(change: Change) -> Iterator[Cause]:
    """An operator runs other kernels on the same inputs."""
    for finding in change.open():
        if finding.kind is not Kind.KERNELS or (delta := change.get(finding.op)) is None:
            continue
        came, went = ([name for name, _ in counts] for counts in (delta.came("kernels"), delta.went("kernels")))
        message = f"{delta.name} no longer runs {listed(went)}"
        if came:
            became = f"kernel {listed(went)} became {listed(came)} in {delta.name}"
            message = became if went else f"{delta.name} runs {listed(came)} more"
        yield cause("kernel_changed", message, delta)


def _added(delta: Delta) -> int:
    """How many reorders a step were added."""
    before, after = (sum(n for name, n in facts.kernels if _REORDER.match(name)) for facts in delta.facts)
    return after - before


def _became(delta: Delta) -> str:
    """The first kernel that went and the first that came, reorders aside."""
    changed = (delta.went("kernels"), delta.came("kernels"))
    went, came = ([name for name, _ in counts if not _REORDER.match(name)] for counts in changed)
    return f", {went[0]} became {came[0]}" if went and came else ""
