"""The columns of a profile's events -> what each operator cost in each step. Knows nothing of torch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.measure.events import BoolArray, Events, IntArray, Kind
from pytest_opcost.measure.nesting import by_thread, device_work, ends_of_subtrees, parents, step_of, step_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPTIMIZER_MARK = "Optimizer.step#"
#: Runtime calls that start one kernel each, so that each of them has one kernel's record.
_LAUNCH = re.compile(r"(cuda|cu|hip)\w*Launch\w*Kernel(?!\w*MultiDevice)\w*")
_ON_HOST = (Kind.OPERATOR, Kind.BACKWARD, Kind.ANNOTATION, Kind.RUNTIME, Kind.OVERHEAD)
_NO_ROWS = (Kind.ANNOTATION, Kind.OVERHEAD)


@dataclass(frozen=True, slots=True)
class HostCalls:
    """Every call on the host that lies in a step, column by column, each of shape (calls,).

    `step` and `name` are its row and column in the tables of `StepCosts`, `rank` tells the calls of one operator in one
    step apart, by their start; `self_ns` is its self time in nanoseconds, negative where its children claimed more, and
    `device_ns` that of the device work which it launched; `inclusive_ns` and `inclusive_device_ns` are those of the
    call with all that it called on its thread, and nothing of one made by a call of its own name, which has it.
    """

    step: IntArray
    name: IntArray
    rank: IntArray
    self_ns: IntArray
    device_ns: IntArray
    inclusive_ns: IntArray
    inclusive_device_ns: IntArray


@dataclass(frozen=True, slots=True)
class StepCosts:
    """What every operator did in every step.

    `names` are the operators; `start` and `end`, of shape (steps,), the steps' spans; the tables, of shape
    (steps, names), hold calls, self times, and the forward phase's part of them. Times are nanoseconds. `host_calls`
    has the host's part of them call by call.
    `kernels` are the names that are no operators but device work that none launched, such as that of a replayed CUDA
    graph. `device_events` and `unmatched`, of shape (steps,), count what ran on the device, and launches of kernels of
    which nothing did. `outside` counts device events of no step, `negative_clamped` events whose children claimed more
    time than they had themselves.
    """

    names: Sequence[str]
    start: IntArray
    end: IntArray
    calls: IntArray
    host_ns: IntArray
    device_ns: IntArray
    forward_host_ns: IntArray
    forward_device_ns: IntArray
    device_events: IntArray
    unmatched: IntArray
    host_calls: HostCalls
    kernels: frozenset[str] = frozenset()
    outside: int = 0
    negative_clamped: int = 0


def aggregate(events: Events) -> StepCosts:
    """Self times of every operator in every marked step.

    Host self time is an operator's duration less that of the events nested in it on the same thread; device work
    belongs to the operator that launched it, or to itself where none did. Annotations take no time, but what runs in
    them has its phase from them. Work outside every step, such as a synchronisation between two, is left out.
    """
    rows = by_thread(events, _ON_HOST)
    self_ns, forward, of_its_kind = _nested(events, rows)
    work = ~np.isin(events.kind[rows], _NO_ROWS)
    rows, self_ns, forward, of_its_kind = rows[work], self_ns[work], forward[work], of_its_kind[work]
    steps = step_spans(events)
    step = step_of(events.start[rows], steps)
    launched, launcher, stray = device_work(events, rows)
    stray_step = step_of(events.start[stray], steps)

    # Places in the tables: a row for each step, a column for each name that occurs in one.
    inside, stray_inside = step >= 0, stray_step >= 0
    occurring = np.concatenate([events.name[rows[inside]], events.name[stray[stray_inside]]])
    used = np.flatnonzero(np.bincount(occurring))
    column = np.zeros(len(events.names), dtype=np.int64)
    column[used] = np.arange(len(used))
    cell = np.where(inside, step * len(used) + column[events.name[rows]], -1)
    stray_cell = np.where(stray_inside, stray_step * len(used) + column[events.name[stray]], -1)

    def table(cells: IntArray, weights: IntArray | None = None) -> IntArray:
        size, counted = len(steps[0]) * len(used), cells >= 0
        # Weights are added up as float64, exact to 2**53 ns: a hundred days.
        sums = np.bincount(cells[counted], None if weights is None else weights[counted], minlength=size)
        whole: IntArray = sums.astype(np.int64).reshape(len(steps[0]), len(used))
        return whole

    def by_step(of: IntArray) -> IntArray:
        counts: IntArray = np.bincount(of[of >= 0], minlength=len(steps[0])).astype(np.int64)
        return counts

    own_ns = np.maximum(self_ns, 0)
    device_ns, stray_ns = (events.end[which] - events.start[which] for which in (launched, stray))
    launched_ns = np.bincount(launcher, device_ns, minlength=len(rows)).astype(np.int64)
    # What began in a call lies behind it without a gap: its sum is a difference of sums from the first call on.
    so_far = np.concatenate([[0], np.cumsum(launched_ns)])
    inclusive_device_ns = (so_far[ends_of_subtrees(events, rows)] - so_far[:-1]) * ~of_its_kind
    inclusive_ns = (events.end[rows] - events.start[rows]) * ~of_its_kind
    return StepCosts(
        names=[events.names[name] for name in used],
        start=steps[0],
        end=steps[1],
        calls=table(cell) + table(stray_cell),
        host_ns=table(cell, own_ns),
        device_ns=table(cell[launcher], device_ns) + table(stray_cell, stray_ns),
        forward_host_ns=table(cell, own_ns * forward),
        forward_device_ns=table(cell[launcher], device_ns * forward[launcher]) + table(stray_cell, stray_ns),
        device_events=by_step(np.concatenate([step[launcher], stray_step])),
        unmatched=by_step(step[_unmatched(events, rows)]),
        host_calls=_host_calls(
            cell, events.start[rows], len(used), (self_ns, launched_ns, inclusive_ns, inclusive_device_ns)
        ),
        kernels=frozenset(events.names[name] for name in events.name[stray[stray_inside]]),
        outside=int(np.count_nonzero(~inside[launcher])) + int(np.count_nonzero(~stray_inside)),
        negative_clamped=int(np.count_nonzero(self_ns[inside] < 0)),
    )


def _host_calls(cell: IntArray, start: IntArray, names: int, times: Sequence[IntArray]) -> HostCalls:
    """The calls one by one, with their `times`; `cell` is each one's place in a table of so many `names` columns, -1
    for none.
    """
    order = np.lexsort((start, cell))
    order = order[np.searchsorted(cell[order], 0) :]
    cell = cell[order]
    # Sorted by cell: a call's rank is how far it stands behind the first one of its cell.
    rank = np.arange(len(cell)) - np.searchsorted(cell, cell)
    return HostCalls(cell // max(names, 1), cell % max(names, 1), rank, *(column[order] for column in times))


def _unmatched(events: Events, rows: IntArray) -> IntArray:
    """The places in `rows` of the calls that launched a kernel of which there is no record.

    A kernel has the correlation id of the runtime call that launched it. Where no device event has that of any runtime
    call, the ids are not of that kind, and nothing can be said.
    """
    matched = np.isin(events.correlation[rows], events.correlation[events.kind == Kind.DEVICE])
    runtime = events.kind[rows] == Kind.RUNTIME
    if not (runtime & matched).any():
        return rows[:0]
    launches = np.array([bool(_LAUNCH.fullmatch(text)) for text in events.names], dtype=bool)[events.name[rows]]
    return np.flatnonzero(runtime & launches & ~matched)


def _nested(events: Events, rows: IntArray) -> tuple[IntArray, BoolArray, BoolArray]:
    """Self times, whether each event lies in the forward phase, and whether what called it has its name, by interval
    nesting on each thread.

    `rows` are sorted by thread, start and falling end.
    """
    start, end = events.start[rows], events.end[rows]
    is_annotation = events.kind[rows] == Kind.ANNOTATION
    parent = parents(events, rows)

    # An annotation takes no time: what runs in it is paid for by the operator around it, if any.
    payer = parent.copy()
    while (through := (payer >= 0) & is_annotation[payer]).any():
        payer[through] = parent[payer[through]]
    # An event that outlasts the one it began in overlaps it only in part: it is nobody's child.
    paid = (payer >= 0) & ~is_annotation & (end <= end[parent])
    of_its_kind = (payer >= 0) & (events.name[rows][payer] == events.name[rows])
    children = np.bincount(payer[paid], (end - start)[paid], minlength=len(rows)).astype(np.int64)

    leaves = np.array([text.startswith(_OPTIMIZER_MARK) for text in events.names], dtype=bool)[events.name[rows]]
    leaves = (leaves & is_annotation) | (events.kind[rows] == Kind.BACKWARD)
    # What holds for an ancestor holds for all below it: every round looks up twice as far as the one before.
    while (below := np.flatnonzero(parent >= 0)).size:
        leaves[below] |= leaves[parent[below]]
        parent[below] = parent[parent[below]]
    return end - start - children, ~leaves, of_its_kind
