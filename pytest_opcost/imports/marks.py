"""Where steps begin and end: marks of torch's profiler, of opcost's, or none at all."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_opcost.measure.events import OPERATORS, STEP_MARK, Events, Kind
from pytest_opcost.measure.nesting import step_of, step_spans

#: `torch.profiler` with a schedule annotates each step; a table has them together.
_STEP = re.compile(rf"ProfilerStep(#\d+|\*)|{STEP_MARK}")
#: Annotations of torch's own, by their names.
_ANNOTATION = re.compile(r"(Optimizer\.(step|zero_grad)|enumerate\(DataLoader\)|DataParallel\.forward"
                         r"|DistributedDataParallel\.forward).*")  # fmt: skip


def is_step(name: str) -> bool:
    """Whether this is the name of a mark around a step."""
    return _STEP.fullmatch(name) is not None


def is_mark(name: str) -> bool:
    """Whether this is the name of an annotation that torch or opcost makes: no operator, whatever else says so."""
    return is_step(name) or _ANNOTATION.fullmatch(name) is not None


def unmarked(events: Events) -> Events:
    """The events that `with_steps` returned, as if no step had been marked."""
    marks = (events.kind == Kind.ANNOTATION) & (events.name == events.names.index(STEP_MARK))
    return replace(events, kind=np.where(marks, Kind.LEFT_OUT, events.kind).astype(events.kind.dtype))


def with_steps(events: Events) -> tuple[Events, int]:
    """The events with one mark around each step as `aggregate` knows it, and how many marks there were.

    A mark in which no operator begins is none: the profiler opens one more when the last step is over. Where there are
    no marks, all that was recorded is one step.
    """
    ids: dict[str, int] = {}
    renamed = [ids.setdefault(STEP_MARK if is_step(name) else name, len(ids)) for name in events.names]
    name = np.array(renamed, dtype=np.int64)[events.name] if len(events.name) else events.name
    events = replace(events, names=list(ids), name=name)
    is_operator = np.isin(events.kind, [*OPERATORS])
    spans = step_spans(events)
    if len(spans[0]):
        filled = step_of(events.start[is_operator], spans)
        counts = np.bincount(filled[filled >= 0], minlength=len(spans[0]))
        marks = np.flatnonzero((events.name == ids[STEP_MARK]) & (events.kind == Kind.ANNOTATION))
        marks = marks[np.argsort(events.start[marks], kind="stable")]
        kind = events.kind.copy()
        kind[marks[counts == 0]] = Kind.LEFT_OUT
        events = replace(events, kind=kind)
        if counts.any():
            return events, int(np.count_nonzero(counts))
    host = np.isin(events.kind, [*OPERATORS, Kind.RUNTIME])
    begin = int(events.start[host].min()) if host.any() else 0
    end = int(events.end[host | (events.kind == Kind.DEVICE)].max(initial=begin)) + 1
    mark = {
        "name": ids.setdefault(STEP_MARK, len(ids)), "kind": int(Kind.ANNOTATION), "start": begin, "end": end,
        "thread": -1, "correlation": 0, "link": 0,
    }  # fmt: skip
    whole: dict[str, Any] = {field: np.append(getattr(events, field), value) for field, value in mark.items()}
    return replace(events, names=list(ids), **whole), 0
