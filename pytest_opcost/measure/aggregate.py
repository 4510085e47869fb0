"""Plain events -> what each operator cost in each step. Pure; knows nothing of torch."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_opcost.measure.events import STEP_MARK, Event, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_OPTIMIZER_MARK = "Optimizer.step#"


@dataclass(slots=True)
class StepCost:
    """What one operator did in one step: calls, self times in nanoseconds, and the forward phase's part of them."""

    calls: int = 0
    host_ns: int = 0
    device_ns: int = 0
    forward_host_ns: int = 0
    forward_device_ns: int = 0


@dataclass(slots=True)
class StepTable:
    """One step: its span in nanoseconds since the profiler's epoch, and its operators by name."""

    start: int
    end: int
    ops: dict[str, StepCost] = field(default_factory=lambda: defaultdict(StepCost))


@dataclass(slots=True)
class Aggregate:
    """All steps of a profile in order, how many device events had no operator, how many self times were negative."""

    steps: list[StepTable]
    unlinked_device: int = 0
    negative_clamped: int = 0


def aggregate(events: Sequence[Event]) -> Aggregate:
    """Self times of every operator in every marked step.

    Host self time is an operator's duration less that of the events nested in it on the same thread; device work
    belongs to the operator that launched it. Annotations take no time, but what runs in them has its phase from them.
    Work outside every step, such as a synchronisation between two, is left out.
    """
    steps = [StepTable(e.start, e.end) for e in events if e.name == STEP_MARK and e.kind is Kind.ANNOTATION]
    steps.sort(key=lambda step: step.start)
    result = Aggregate(steps)
    starts = [step.start for step in steps]

    def step_at(time: int) -> StepTable | None:
        index = bisect_right(starts, time) - 1
        return steps[index] if index >= 0 and time < steps[index].end else None

    threads: dict[int, list[Event]] = defaultdict(list)
    device: list[Event] = []
    for event in events:
        (device if event.kind is Kind.DEVICE else threads[event.thread]).append(event)

    launchers: dict[int, tuple[StepCost, bool]] = {}
    for thread in threads.values():
        for event, self_ns, forward in _nested(thread):
            if event.kind is Kind.ANNOTATION or (step := step_at(event.start)) is None:
                continue
            if self_ns < 0:
                result.negative_clamped += 1
                self_ns = 0
            cost = step.ops[event.name]
            cost.calls += 1
            cost.host_ns += self_ns
            cost.forward_host_ns += self_ns if forward else 0
            if event.kind is not Kind.RUNTIME:
                launchers[event.correlation] = (cost, forward)

    for event in device:
        if event.link not in launchers:
            result.unlinked_device += 1
            continue
        cost, forward = launchers[event.link]
        cost.device_ns += event.end - event.start
        cost.forward_device_ns += event.end - event.start if forward else 0
    return result


class _Open:
    """An event that later ones may be nested in, with the time that its children took so far.

    `payer` is the event whose self time they are taken from: an annotation has none, what runs in it is paid for by
    the operator around it, if any.
    """

    __slots__ = ("children", "event", "forward", "payer")

    def __init__(self, event: Event, parent: _Open | None) -> None:
        self.event = event
        self.children = 0
        is_annotation = event.kind is Kind.ANNOTATION
        leaves_forward = event.kind is Kind.BACKWARD or (is_annotation and event.name.startswith(_OPTIMIZER_MARK))
        self.forward: bool = not leaves_forward and (parent is None or parent.forward)
        self.payer: _Open | None = self
        if is_annotation:
            self.payer = parent.payer if parent is not None else None
        # An event that outlasts the one it began in overlaps it only in part: it is nobody's child.
        elif parent is not None and parent.payer is not None and event.end <= parent.event.end:
            parent.payer.children += event.end - event.start

    def closed(self) -> tuple[Event, int, bool]:
        return self.event, self.event.end - self.event.start - self.children, self.forward


def _nested(thread: list[Event]) -> Iterator[tuple[Event, int, bool]]:
    """Each event of one thread with its self time and whether it belongs to the forward phase, by interval nesting."""
    stack: list[_Open] = []
    for event in sorted(thread, key=lambda e: (e.start, -e.end)):
        while stack and stack[-1].event.end <= event.start:
            yield stack.pop().closed()
        stack.append(_Open(event, stack[-1] if stack else None))
    while stack:
        yield stack.pop().closed()
