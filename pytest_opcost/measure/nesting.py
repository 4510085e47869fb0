"""Which event is nested in which: intervals on one thread, as the profiler records calls within calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.measure.events import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_opcost.measure.events import Events, IntArray


def by_thread(events: Events, kinds: Iterable[int]) -> IntArray:
    """The events of these kinds, sorted by thread, start and falling end: parents before their children."""
    rows = np.flatnonzero(np.isin(events.kind, [*kinds]))
    return rows[np.lexsort((-events.end[rows], events.start[rows], events.thread[rows]))]


def parents(events: Events, rows: IntArray) -> list[int]:
    """For each of `rows`, sorted as `by_thread` does, the place in `rows` of what it began in; -1 for none."""
    starts, ends, threads = (column[rows].tolist() for column in (events.start, events.end, events.thread))
    found: list[int] = []
    stack: list[int] = []
    for place, (start, thread) in enumerate(zip(starts, threads)):
        while stack and (ends[stack[-1]] <= start or threads[stack[-1]] != thread):
            stack.pop()
        found.append(stack[-1] if stack else -1)
        stack.append(place)
    return found


def operators_around(events: Events, rows: IntArray) -> list[int]:
    """For each of `rows` the place in `rows` of the innermost operator that it lies in; -1 for none."""
    kinds, found = events.kind[rows].tolist(), parents(events, rows)
    for place, parent in enumerate(found):
        if parent >= 0 and kinds[parent] not in OPERATORS:
            found[place] = found[parent]
    return found
