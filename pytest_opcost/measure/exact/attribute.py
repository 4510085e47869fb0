"""Dispatched calls -> the profiler's rows: what did the work of a call, and where each operator was called."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.facts import OpFacts, counted
from pytest_opcost.families import family_of
from pytest_opcost.measure.events import OPERATORS, Kind
from pytest_opcost.measure.nesting import by_thread, parents, step_of, step_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.facts import Place
    from pytest_opcost.measure.events import Events


#: The annotation around each dispatched call, followed by its number.
CALL_MARK = "pytest-opcost::call "


@dataclass(frozen=True, slots=True)
class Call:
    """One operator call that reached the dispatcher below autograd; `primitives` are oneDNN's and MKL's, in order."""

    name: str
    place: Place
    flops: int
    primitives: Sequence[str]


@dataclass(slots=True)
class _Seen:
    flops: int = 0
    primitives: list[str] = field(default_factory=list)
    places: dict[Place, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Joined:
    """The host's events of watched steps, sorted as `by_thread` does, with the dispatched call that each belongs to.

    `call_of` is the number of the call that an event lies in, -1 for none; `first_inside` that, else the first call
    that lies in the event, such as an autograd node or `aten::conv2d`. `around` is the place of the event that each one
    lies in, `step` the marked step, -1 for none; `times` are starts and ends in nanoseconds.
    """

    names: Sequence[str]
    is_operator: Sequence[bool]
    around: Sequence[int]
    step: Sequence[int]
    times: Sequence[tuple[int, int]]
    call_of: Sequence[int]
    first_inside: Sequence[int]
    steps: int

    @classmethod
    def of(cls, events: Events) -> Joined:
        """Events that hold an annotation around each call."""
        rows = by_thread(events, {*OPERATORS, Kind.ANNOTATION})
        names = [events.names[name] for name in events.name[rows].tolist()]
        is_operator = np.isin(events.kind[rows], [*OPERATORS]).tolist()
        around = parents(events, rows).tolist()
        spans = step_spans(events)

        call_of = [-1] * len(rows)
        for place, name in enumerate(names):
            if not is_operator[place] and name.startswith(CALL_MARK):
                call_of[place] = int(name.removeprefix(CALL_MARK))
            elif around[place] >= 0:
                call_of[place] = call_of[around[place]]

        first_inside = list(call_of)
        for place in reversed(range(len(rows))):
            if around[place] >= 0 and call_of[around[place]] < 0 and first_inside[place] >= 0:
                first_inside[around[place]] = first_inside[place]
        times = list(zip(events.start[rows].tolist(), events.end[rows].tolist()))
        step = step_of(events.start[rows], spans).tolist()
        return cls(names, is_operator, around, step, times, call_of, first_inside, len(spans[0]))


def attributed(joined: Joined, calls: Sequence[Call]) -> list[dict[str, OpFacts]]:
    """For each marked step FLOPs, primitives and places of each operator.

    `aten::convolution` runs `aten::_convolution`, which runs `aten::mkldnn_convolution`: a call's FLOPs and primitives
    belong to the innermost operators of the call's own family, which are the ones whose self time they explain. An
    operator around dispatched calls, such as `aten::conv2d` or an autograd node, has the place of the first of them.
    """
    names, step = joined.names, joined.step
    steps: list[dict[str, _Seen]] = [defaultdict(_Seen) for _ in range(joined.steps)]
    for place, call in enumerate(joined.first_inside):
        if joined.is_operator[place] and step[place] >= 0 and call >= 0:
            steps[step[place]][names[place]].places[calls[call].place] = None

    for call, workers in _workers(joined, calls).items():
        if (at := step[workers[0]]) < 0:
            continue
        flops, many = calls[call].flops, len(workers)
        for index, worker in enumerate(workers):
            # Equal shares, of which none is lost in rounding.
            steps[at][names[worker]].flops += flops * (index + 1) // many - flops * index // many
        steps[at][names[workers[0]]].primitives += calls[call].primitives
    return [{name: _facts(one) for name, one in seen.items()} for seen in steps]


def operator_calls(joined: Joined, calls: Sequence[Call], step: int) -> list[tuple[str, int, int]]:
    """Every operator call of one step in the order of their starts: its name, the number of the dispatched call that it
    belongs to (the first of those in it, -1 where there is none), and its self time in nanoseconds.
    """
    inside_ns, found = [0] * len(joined.names), []
    for place in reversed(range(len(joined.names))):
        (begins, ends), name, call = joined.times[place], joined.names[place], joined.first_inside[place]
        # An annotation takes no time of its own: the operator around it pays for what it holds.
        taken = ends - begins if joined.is_operator[place] else inside_ns[place]
        if joined.around[place] >= 0:
            inside_ns[joined.around[place]] += taken
        # A watched operator has two rows: that of its way to the watch, which is nothing of its own, and its work.
        on_its_way = call >= 0 and joined.call_of[place] < 0 and calls[call].name == name
        if joined.is_operator[place] and joined.step[place] == step and not on_its_way:
            found.append((begins, name, call, max(ends - begins - inside_ns[place], 0)))
    return [(name, call, ns) for _, name, call, ns in sorted(found, key=itemgetter(0))]


def _workers(joined: Joined, calls: Sequence[Call]) -> dict[int, list[int]]:
    """For each call the innermost operators of its family, else the first operator in it."""
    names = joined.names
    has_worker_inside = [False] * len(names)
    workers: dict[int, list[int]] = defaultdict(list)
    first: dict[int, int] = {}
    for place in reversed(range(len(names))):
        call, parent = joined.call_of[place], joined.around[place]
        if call < 0 or not joined.is_operator[place]:
            continue
        first[call] = place
        is_worker = family_of(names[place]) == family_of(calls[call].name)
        if is_worker and not has_worker_inside[place]:
            workers[call].insert(0, place)
        if parent >= 0 and (is_worker or has_worker_inside[place]):
            has_worker_inside[parent] = True
    return {call: workers[call] or [place] for call, place in first.items()}


def _facts(seen: _Seen) -> OpFacts:
    return OpFacts(flops=seen.flops, kernels=counted(seen.primitives), places=tuple(seen.places))
