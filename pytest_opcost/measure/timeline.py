"""The events of the last measured step, as the profiler saw them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.measure.events import Events, Kind
from pytest_opcost.timeline import Span

if TYPE_CHECKING:
    from pytest_opcost.measure.aggregate import StepCosts

_SHOWN = {
    Kind.OPERATOR: "operator", Kind.BACKWARD: "backward", Kind.ANNOTATION: "annotation", Kind.RUNTIME: "runtime",
    Kind.DEVICE: "device", Kind.OVERHEAD: "profiler",
}  # fmt: skip


def last_step(events: Events, costs: StepCosts) -> tuple[Span, ...]:
    """What began within the last step, by its start; what a device does after the host is done belongs to it too.

    Nothing is averaged: this is one step, with the accidents of one.
    """
    start = int(costs.start[-1])
    shown = np.isin(events.kind, list(_SHOWN)) & (events.start >= start) & (events.start < costs.end[-1])
    rows = np.flatnonzero(shown)
    rows = rows[np.lexsort((-events.end[rows], events.start[rows]))]
    threads: dict[int, str] = {}
    spans = []
    for row in rows:
        kind = Kind(events.kind[row])
        on_device = kind is Kind.DEVICE
        track = "device" if on_device else threads.setdefault(int(events.thread[row]), f"host {len(threads) + 1}")
        begin, end = int(events.start[row]), int(events.end[row])
        name = events.names[int(events.name[row])]
        spans.append(Span(name, _SHOWN[kind], track, (begin - start) / 1e3, (end - begin) / 1e3))
    return tuple(spans)
