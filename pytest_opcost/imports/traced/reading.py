"""A trace's events -> the columns that a profile is made of."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_opcost.families import ENGINE_WRAPPER, family_of
from pytest_opcost.imports.marks import is_mark
from pytest_opcost.measure.events import Events, Kind, lasting_name
from pytest_opcost.measure.nesting import by_thread, operators_around, parents, thread_spans

if TYPE_CHECKING:
    from pytest_opcost.imports.traced.json_stream import TraceFile
    from pytest_opcost.measure.events import IntArray

#: What Kineto's categories are, in lower case: torch 1.8 wrote `Operator` and `Kernel`. Others are left out: what
#: Python does, users' annotations as the device repeats them, arrows, instants.
_KINDS = {
    "cpu_op": Kind.OPERATOR, "operator": Kind.OPERATOR, "user_annotation": Kind.ANNOTATION,
    "runtime": Kind.RUNTIME, "cuda_runtime": Kind.RUNTIME, "cuda_driver": Kind.RUNTIME, "xpu_runtime": Kind.RUNTIME,
    "xpu_driver": Kind.RUNTIME, "mtia_runtime": Kind.RUNTIME, "privateuse1_runtime": Kind.RUNTIME,
    "privateuse1_driver": Kind.RUNTIME, "glow_runtime": Kind.RUNTIME,
    "kernel": Kind.DEVICE, "memcpy": Kind.DEVICE, "memset": Kind.DEVICE, "gpu_memcpy": Kind.DEVICE,
    "gpu_memset": Kind.DEVICE, "overhead": Kind.OVERHEAD,
}  # fmt: skip
#: Before Kineto, and in `EventList.export_chrome_trace()` to this day, the process told what an event is.
_OLD_KINDS = {"CPU functions": Kind.OPERATOR, "Autograd functions": Kind.OPERATOR, "CUDA functions": Kind.DEVICE}
_NO_ID = 0
#: Nanoseconds that fit a column, with room for what is done with them: 73 years before and after the clock's start.
_FIRST, _LAST = -(1 << 61), 1 << 61


def read_events(trace: TraceFile) -> tuple[Events, int]:
    """All events of a trace that cost anything, and how many of them ended before they began and count as nothing.

    A kernel's link is the external id of the operator that launched it: its own, that of the runtime call with its
    correlation id, or that of the operator around this call. Raises InputError where an event is not valid.
    """
    ids: dict[str, int] = {}
    threads: dict[tuple[str, str], int] = {}
    columns = name, kind, start, end, thread, correlation, external = [array("q") for _ in range(7)]
    negative, old, latest = 0, False, _NO_ID
    for event in trace:
        if event.get("ph") != "X":
            continue
        category = event.get("cat")
        if category is None:
            what = _OLD_KINDS.get(str(event.get("pid")))
            old = old or what is Kind.DEVICE
        else:
            what = _KINDS.get(str(category).lower())
        if what is None:
            continue
        text, begins, lasts = event.get("name"), _ns(event.get("ts")), _ns(event.get("dur"))
        if not isinstance(text, str) or begins is None or lasts is None:
            wrong = "name" if not isinstance(text, str) else "ts" if begins is None else "dur"
            raise trace.damaged(f'the event before it, {text!r}, has no usable "{wrong}": {event.get(wrong)!r}')
        if not _FIRST < begins < _LAST or lasts > _LAST:
            raise trace.damaged(f"the event before it, {text!r}, is at no time that there is: {event['ts']}")
        negative += lasts < 0
        more = event.get("args")
        more = more if isinstance(more, dict) else {}
        if category is None:
            # A kernel stands behind the operator that it belongs to.
            latest = latest if what is Kind.DEVICE else len(name) + 1
            own = of = latest
        else:
            own = _id(more, "External id", "external id")
            of = _id(more, "correlation") if what in (Kind.RUNTIME, Kind.DEVICE) else own
        name.append(ids.setdefault(text, len(ids)))
        kind.append(what)
        start.append(begins)
        end.append(begins + max(lasts, 0))
        thread.append(threads.setdefault((str(event.get("pid")), str(event.get("tid"))), len(threads)))
        correlation.append(of)
        external.append(own)
    read = [np.frombuffer(column, dtype=np.int64) if column else np.zeros(0, dtype=np.int64) for column in columns]
    events = _of_kinds(list(ids), *read)
    return (_self_device_times(events) if old else _linked(_interrupting(events))), negative


def _of_kinds(texts: list[str], name: IntArray, kind: IntArray, *more: Any) -> Events:
    """The columns, with names that last, and with what only a name tells of its event's kind."""
    lasting: dict[str, int] = {}
    new_name, kinds = [], []
    for text in texts:
        # What is no UTF-8 was kept as it is until now.
        shown = lasting_name(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        new_name.append(lasting.setdefault(shown, len(lasting)))
        backward = shown.startswith(ENGINE_WRAPPER) or family_of(shown) == "autograd"
        # Before torch 1.9 annotations were of the operators' category.
        kinds.append(Kind.ANNOTATION if is_mark(shown) else Kind.BACKWARD if backward else Kind.OPERATOR)
    told = np.array(kinds, dtype=np.int64)[name] if len(name) else kind
    kind = np.where(kind == Kind.OPERATOR, told, kind)
    return Events(list(lasting), np.array(new_name, dtype=np.int64)[name] if len(name) else name, kind, *more)


def _interrupting(events: Events) -> Events:
    """The same events, the profiler's overhead on the thread that it interrupts: Kineto gives it one of its own.

    That is the thread that was within an operator or a runtime call all the while; where several were, nobody knows.
    """
    overhead = np.flatnonzero(events.kind == Kind.OVERHEAD)
    if not len(overhead):
        return events
    rows = by_thread(events, [Kind.OPERATOR, Kind.BACKWARD, Kind.RUNTIME])
    busy = np.zeros(len(overhead), dtype=np.int64)
    thread = events.thread.copy()
    for first, behind in thread_spans(events.thread[rows]):
        start, end = (column[rows[first:behind]] for column in (events.start, events.end))
        # Of all that began before it, none but the one that ends last needs to be looked at.
        last = np.concatenate([[np.iinfo(np.int64).min], np.maximum.accumulate(end)])
        around = last[np.searchsorted(start, events.start[overhead], side="right")] >= events.end[overhead]
        thread[overhead[around]] = events.thread[rows[first]]
        busy += around
    thread[overhead[busy > 1]] = events.thread[overhead[busy > 1]]
    return replace(events, thread=thread)


def _linked(events: Events) -> Events:
    """The same events with the links of kernels that have no external id of their own filled in."""
    link = events.link.copy()
    device = np.flatnonzero((events.kind == Kind.DEVICE) & (link == _NO_ID) & (events.correlation != _NO_ID))
    rows = by_thread(events, [Kind.OPERATOR, Kind.BACKWARD, Kind.ANNOTATION, Kind.RUNTIME])
    places = np.flatnonzero(events.kind[rows] == Kind.RUNTIME)
    if not len(device) or not len(places):
        return events
    places = places[np.argsort(events.correlation[rows[places]], kind="stable")]
    sorted_ids = events.correlation[rows[places]]
    found = np.minimum(np.searchsorted(sorted_ids, events.correlation[device]), len(places) - 1)
    known = sorted_ids[found] == events.correlation[device]
    device, calls = device[known], places[found[known]]
    link[device] = link[rows[calls]]
    if (unknown := link[device] == _NO_ID).any():
        around = np.array(operators_around(events, rows), dtype=np.int64)[calls[unknown]]
        link[device[unknown]] = np.where(around >= 0, link[rows[around]], _NO_ID)
    return Events(
        events.names, events.name, events.kind, events.start, events.end, events.thread, events.correlation, link
    )


def _self_device_times(events: Events) -> Events:
    """The old profiler timed the device from an operator's start to its end, with all that it called: take that off."""
    rows = by_thread(events, [Kind.OPERATOR, Kind.BACKWARD])
    parent = parents(events, rows)
    device = np.flatnonzero(events.kind == Kind.DEVICE)
    place_of = np.full(int(events.correlation.max(initial=0)) + 1, -1, dtype=np.int64)
    place_of[events.correlation[rows]] = np.arange(len(rows))
    place = place_of[events.link[device]]
    device, place = device[place >= 0], place[place >= 0]
    whole = np.bincount(place, (events.end - events.start)[device], minlength=len(rows)).astype(np.int64)
    children = np.bincount(parent[parent >= 0], whole[parent >= 0], minlength=len(rows)).astype(np.int64)
    # Of several kernels of one operator all are its own.
    share = np.where(whole > 0, np.maximum(whole - children, 0) / np.maximum(whole, 1), 0.0)
    end = events.end.copy()
    end[device] = events.start[device] + np.rint((events.end - events.start)[device] * share[place]).astype(np.int64)
    return Events(
        events.names, events.name, events.kind, events.start, end, events.thread, events.correlation, events.link
    )


def _ns(microseconds: Any) -> int | None:
    """Nanoseconds of a number of microseconds, which is text where it has a fraction; None where it is no number."""
    if type(microseconds) is int:
        return microseconds * 1000
    if not isinstance(microseconds, str):
        return None
    whole, _, part = microseconds.partition(".")
    if len(part) <= 3 and whole.isdigit() and (part.isdigit() or not part):
        return int(whole) * 1000 + int(part.ljust(3, "0"))
    try:
        value = float(microseconds) * 1000
    except ValueError:
        return None
    return round(value) if math.isfinite(value) else None


def _id(more: dict[str, Any], *names: str) -> int:
    """A number that joins events, of whichever of these names there is; 0 for none."""
    for name in names:
        value = more.get(name)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if type(value) is int and 0 < value < 1 << 63:
            return value
    return _NO_ID
