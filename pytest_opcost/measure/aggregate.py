"""The columns of a profile's events -> what each operator cost in each step. Knows nothing of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.measure.events import STEP_MARK, BoolArray, Events, IntArray, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPTIMIZER_MARK = "Optimizer.step#"


@dataclass(frozen=True, slots=True)
class StepCosts:
    """What every operator did in every step.

    `names` are the operators; `start` and `end`, of shape (steps,), the steps' spans; the tables, of shape
    (steps, names), hold calls, self times, and the forward phase's part of them. Times are nanoseconds.
    `unlinked_device` counts device events that no operator launched, `negative_clamped` events whose children claimed
    more time than they had themselves.
    """

    names: Sequence[str]
    start: IntArray
    end: IntArray
    calls: IntArray
    host_ns: IntArray
    device_ns: IntArray
    forward_host_ns: IntArray
    forward_device_ns: IntArray
    unlinked_device: int = 0
    negative_clamped: int = 0


def aggregate(events: Events) -> StepCosts:
    """Self times of every operator in every marked step.

    Host self time is an operator's duration less that of the events nested in it on the same thread; device work
    belongs to the operator that launched it. Annotations take no time, but what runs in them has its phase from them.
    Work outside every step, such as a synchronisation between two, is left out.
    """
    on_host = (events.kind != Kind.DEVICE) & (events.kind != Kind.LEFT_OUT)
    rows = np.flatnonzero(on_host)
    rows = rows[np.lexsort((-events.end[rows], events.start[rows], events.thread[rows]))]
    self_ns, forward = _nested(events, rows)
    steps = step_spans(events)
    step = step_of(events.start[rows], steps)
    operators = (step >= 0) & (events.kind[rows] != Kind.ANNOTATION)
    rows, step, self_ns, forward = rows[operators], step[operators], self_ns[operators], forward[operators]
    negative = int(np.count_nonzero(self_ns < 0))
    self_ns = np.maximum(self_ns, 0)

    device_rows, launcher = _launchers(events, rows)
    device_ns = events.end[device_rows] - events.start[device_rows]

    used, index = np.unique(events.name[rows], return_inverse=True)
    cell = step * len(used) + index

    def table(cells: IntArray, weights: IntArray | None = None) -> IntArray:
        size = len(steps[0]) * len(used)
        # Weights are added up as float64, exact to 2**53 ns: a hundred days.
        sums = np.bincount(cells, weights, minlength=size).astype(np.int64)
        whole: IntArray = sums.reshape(len(steps[0]), len(used))
        return whole

    return StepCosts(
        names=[events.names[name] for name in used],
        start=steps[0],
        end=steps[1],
        calls=table(cell),
        host_ns=table(cell, self_ns),
        device_ns=table(cell[launcher], device_ns),
        forward_host_ns=table(cell, self_ns * forward),
        forward_device_ns=table(cell[launcher], device_ns * forward[launcher]),
        unlinked_device=int(np.count_nonzero(events.kind == Kind.DEVICE)) - len(device_rows),
        negative_clamped=negative,
    )


def step_spans(events: Events) -> tuple[IntArray, IntArray]:
    """Starts and ends of the marked steps, in order."""
    mark = events.names.index(STEP_MARK) if STEP_MARK in events.names else -1
    rows = np.flatnonzero((events.name == mark) & (events.kind == Kind.ANNOTATION))
    rows = rows[np.argsort(events.start[rows], kind="stable")]
    return events.start[rows], events.end[rows]


def step_of(times: IntArray, steps: tuple[IntArray, IntArray]) -> IntArray:
    """The index of the step that each time falls into, -1 for none."""
    start, end = steps
    if not len(start):
        return np.full(len(times), -1, dtype=np.int64)
    step = np.searchsorted(start, times, side="right") - 1
    return np.where(times < end[step], step, -1)


def _launchers(events: Events, rows: IntArray) -> tuple[IntArray, IntArray]:
    """The device events that an operator among `rows` launched, and that operator's place in `rows` for each."""
    places = np.flatnonzero(events.kind[rows] != Kind.RUNTIME)
    correlations = events.correlation[rows[places]]
    order = np.argsort(correlations, kind="stable")
    places, correlations = places[order], correlations[order]
    device = np.flatnonzero(events.kind == Kind.DEVICE)
    if not len(places) or not len(device):
        return device[:0], places[:0]
    # Of several operators with one id the last counts, as it does for the profiler itself.
    found = np.searchsorted(correlations, events.link[device], side="right") - 1
    linked = (found >= 0) & (correlations[found] == events.link[device])
    return device[linked], places[found[linked]]


def _nested(events: Events, rows: IntArray) -> tuple[IntArray, BoolArray]:
    """Self times, and whether each event lies in the forward phase, by interval nesting on each thread.

    `rows` are sorted by thread, start and falling end. The loop is the one part that cannot be done column by column;
    it runs on plain lists, which Python reads faster than arrays.
    """
    leaves = np.isin(events.name, [i for i, text in enumerate(events.names) if text.startswith(_OPTIMIZER_MARK)])
    leaves = (leaves & (events.kind == Kind.ANNOTATION)) | (events.kind == Kind.BACKWARD)
    starts, ends, threads = events.start[rows].tolist(), events.end[rows].tolist(), events.thread[rows].tolist()
    leaving = leaves[rows].tolist()
    annotations = (events.kind[rows] == Kind.ANNOTATION).tolist()
    children = [0] * len(rows)
    forward = [True] * len(rows)
    # For each open event: itself, its end, and the event that its children's time is taken from. An annotation has
    # none: what runs in it is paid for by the operator around it, if any.
    stack: list[tuple[int, int, int]] = []
    thread = None
    for i, (start, end, on) in enumerate(zip(starts, ends, threads)):
        if on != thread:
            stack, thread = [], on
        while stack and stack[-1][1] <= start:
            stack.pop()
        payer = -1
        if stack:
            parent, parent_end, payer = stack[-1]
            forward[i] = forward[parent] and not leaving[i]
            # An event that outlasts the one it began in overlaps it only in part: it is nobody's child.
            if payer >= 0 and end <= parent_end and not annotations[i]:
                children[payer] += end - start
        elif leaving[i]:
            forward[i] = False
        stack.append((i, end, payer if annotations[i] else i))
    durations = events.end[rows] - events.start[rows]
    return durations - np.array(children, dtype=np.int64), np.array(forward, dtype=bool)
