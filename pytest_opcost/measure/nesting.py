"""Which event lies in which: calls in calls on one thread, device work in calls, and all of it in steps."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.measure.events import OPERATORS, STEP_MARK, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_opcost.measure.events import Events, IntArray


def by_thread(events: Events, kinds: Iterable[int]) -> IntArray:
    """The events of these kinds, sorted by thread, start and falling end: parents before their children."""
    rows = np.flatnonzero(np.isin(events.kind, [*kinds]))
    return rows[np.lexsort((-events.end[rows], events.start[rows], events.thread[rows]))]


def thread_spans(thread: IntArray) -> Iterator[tuple[int, int]]:
    """The first place of each thread, and that behind its last, where events are sorted by thread."""
    if len(thread):
        yield from pairwise([0, *(np.flatnonzero(np.diff(thread)) + 1).tolist(), len(thread)])


def parents(events: Events, rows: IntArray) -> IntArray:
    """For each of `rows`, sorted as `by_thread` does, the place in `rows` of what it began in; -1 for none."""
    start, end, thread = events.start[rows], events.end[rows], events.thread[rows]
    parent = np.full(len(start), -1, dtype=np.int64)
    for first, last in thread_spans(thread):
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


def ends_of_subtrees(events: Events, rows: IntArray) -> IntArray:
    """For each of `rows`, sorted as `by_thread` does, the place in `rows` behind the last event that began in it."""
    start, end, thread = events.start[rows], events.end[rows], events.thread[rows]
    behind = np.arange(1, len(rows) + 1)
    for first, last in thread_spans(thread):
        found = first + np.searchsorted(start[first:last], end[first:last])
        behind[first:last] = np.maximum(behind[first:last], found)
    return behind


def operators_around(events: Events, rows: IntArray) -> list[int]:
    """For each of `rows` the place in `rows` of the innermost operator that it lies in; -1 for none."""
    kinds: list[int] = events.kind[rows].tolist()
    found: list[int] = parents(events, rows).tolist()
    for place, parent in enumerate(found):
        if parent >= 0 and kinds[parent] not in OPERATORS:
            found[place] = found[parent]
    return found


def device_work(events: Events, rows: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Device events that an operator among `rows` launched, the place in `rows` of each one's operator, the others."""
    device = np.flatnonzero(events.kind == Kind.DEVICE)
    places = np.flatnonzero(np.isin(events.kind[rows], [*OPERATORS]))
    if not len(places) or not len(device):
        return device[:0], places[:0], device
    correlations = events.correlation[rows[places]]
    order = np.argsort(correlations, kind="stable")
    places, correlations = places[order], correlations[order]
    # Of several operators with one id the last counts, as it does for the profiler itself.
    found = np.searchsorted(correlations, events.link[device], side="right") - 1
    linked = (found >= 0) & (correlations[found] == events.link[device])
    return device[linked], places[found[linked]], device[~linked]


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
