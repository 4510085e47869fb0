"""Dispatched calls -> the profiler's rows: what did the work of a call, and where each operator was called."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
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


def attributed(events: Events, calls: Sequence[Call]) -> list[dict[str, OpFacts]]:
    """For each marked step FLOPs, primitives and places of each operator; `events` hold the annotations around `calls`.

    `aten::convolution` runs `aten::_convolution`, which runs `aten::mkldnn_convolution`: a call's FLOPs and primitives
    belong to the innermost operators of the call's own family, which are the ones whose self time they explain. An
    operator around dispatched calls, such as `aten::conv2d` or an autograd node, has the place of the first of them.
    """
    rows = by_thread(events, {*OPERATORS, Kind.ANNOTATION})
    names = [events.names[name] for name in events.name[rows].tolist()]
    is_operator = np.isin(events.kind[rows], [*OPERATORS]).tolist()
    around = parents(events, rows).tolist()
    spans = step_spans(events)
    step = step_of(events.start[rows], spans).tolist()
    steps: list[dict[str, _Seen]] = [defaultdict(_Seen) for _ in spans[0]]

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
    for place, call in enumerate(first_inside):
        if is_operator[place] and step[place] >= 0 and call >= 0:
            steps[step[place]][names[place]].places[calls[call].place] = None

    for call, workers in _workers(names, is_operator, around, call_of, calls).items():
        if (at := step[workers[0]]) < 0:
            continue
        flops, many = calls[call].flops, len(workers)
        for index, worker in enumerate(workers):
            # Equal shares, of which none is lost in rounding.
            steps[at][names[worker]].flops += flops * (index + 1) // many - flops * index // many
        steps[at][names[workers[0]]].primitives += calls[call].primitives
    return [{name: _facts(one) for name, one in seen.items()} for seen in steps]


def _workers(
    names: Sequence[str], is_operator: Sequence[bool], around: Sequence[int], call_of: Sequence[int],
    calls: Sequence[Call],
) -> dict[int, list[int]]:  # fmt: skip
    """For each call the innermost operators of its family, else the first operator in it."""
    has_worker_inside = [False] * len(names)
    workers: dict[int, list[int]] = defaultdict(list)
    first: dict[int, int] = {}
    for place in reversed(range(len(names))):
        call, parent = call_of[place], around[place]
        if call < 0 or not is_operator[place]:
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
