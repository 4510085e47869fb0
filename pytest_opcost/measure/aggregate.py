"""The columns of a profile's events -> what each operator cost in each step. Knows nothing of torch."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
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

    used = np.flatnonzero(np.bincount(events.name[rows]))
    cell = step * len(used) + np.searchsorted(used, events.name[rows])

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

    `rows` are sorted by thread, start and falling end.
    """
    start, end = events.start[rows], events.end[rows]
    is_annotation = events.kind[rows] == Kind.ANNOTATION
    parent = _parents(start, end, events.thread[rows])

    # An annotation takes no time: what runs in it is paid for by the operator around it, if any.
    payer = parent.copy()
    while (through := (payer >= 0) & is_annotation[payer]).any():
        payer[through] = parent[payer[through]]
    # An event that outlasts the one it began in overlaps it only in part: it is nobody's child.
    paid = (payer >= 0) & ~is_annotation & (end <= end[parent])
    children = np.bincount(payer[paid], (end - start)[paid], minlength=len(rows)).astype(np.int64)

    leaves = np.array([text.startswith(_OPTIMIZER_MARK) for text in events.names], dtype=bool)[events.name[rows]]
    leaves = (leaves & is_annotation) | (events.kind[rows] == Kind.BACKWARD)
    # What holds for an ancestor holds for all below it: every round looks up twice as far as the one before.
    while (below := np.flatnonzero(parent >= 0)).size:
        leaves[below] |= leaves[parent[below]]
        parent[below] = parent[parent[below]]
    return end - start - children, ~leaves


def _parents(start: IntArray, end: IntArray, thread: IntArray) -> IntArray:
    """For each event the one on its thread that it began in, -1 for none; sorted by thread, start and falling end."""
    parent = np.full(len(start), -1, dtype=np.int64)
    bounds = [0, *(np.flatnonzero(np.diff(thread)) + 1).tolist(), len(start)]
    for first, last in pairwise(bounds):
        starts, ends = start[first:last], end[first:last]
        found = _by_depth(starts, ends)
        # Clocks that step back, and spans that no scope ends, leave overlaps, which depth alone does not sort out.
        if (ends <= starts).any() or (ends > ends[found])[found >= 0].any():
            found = _by_stack(starts, ends)
        parent[first:last] = np.where(found >= 0, found + first, -1)
    return parent


def _by_depth(start: IntArray, end: IntArray) -> IntArray:
    """Parents of one thread's events, right where they nest and last: an event's depth is then the number of those
    that began before it less that of those that have ended, and its parent the last one before it that is one higher.
    """
    depth = np.arange(len(start)) - np.searchsorted(np.sort(end), start, side="right")
    parent = np.full(len(start), -1, dtype=np.int64)
    above = np.flatnonzero(depth == 0)
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        parent[here] = above[np.searchsorted(above, here) - 1]
        above = here
    return parent


def _by_stack(start: IntArray, end: IntArray) -> IntArray:
    """Parents of one thread's events, in whatever way they overlap."""
    parents: list[int] = []
    stack: list[tuple[int, int]] = []
    for i, (begins, ends) in enumerate(zip(start.tolist(), end.tolist())):
        while stack and stack[-1][1] <= begins:
            stack.pop()
        parents.append(stack[-1][0] if stack else -1)
        stack.append((i, ends))
    return np.array(parents, dtype=np.int64)
