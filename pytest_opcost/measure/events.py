"""One profiled run of steps -> plain events. The only file that reads torch's profiler, whose details are private."""

from __future__ import annotations

import os
import re
import threading
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_opcost.errors import MeasureError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Kineto reads its log level when its library is loaded, that is when torch is first imported.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")

#: The annotation around every step, by which events are told apart later. No user's annotation is called so.
STEP_MARK = "pytest-opcost::step"

_USER_SCOPE = 7  # at::RecordScope::USER_SCOPE: record_function() and the optimizers' own annotations
_BACKWARD_SCOPE = 1  # at::RecordScope::BACKWARD_FUNCTION
_RUNTIME = re.compile(r"(cuda|hip)[A-Z]|cu[A-Z]\w*$|ze[A-Z]\w*$")
_OVERHEAD = re.compile(
    r"Activity Buffer Request|Buffer Flush|Instrumentation|Resource|Lazy Function Loading|Command Buffer Full"
    r"|Runtime Triggered Module Loading|Kernel Launch|.*Overhead$"
)

# torch allows one profiler at a time in a process; two would silently empty each other.
_one_profiler = threading.Lock()


class Kind(Enum):
    """What an event is: only operators and runtime calls take host time, only device work takes device time."""

    OPERATOR = "operator"
    BACKWARD = "backward"
    ANNOTATION = "annotation"
    RUNTIME = "runtime"
    DEVICE = "device"


class Event(NamedTuple):
    """One event of a profile; times in nanoseconds. `link` joins device work to the operator that launched it."""

    name: str
    kind: Kind
    start: int
    end: int
    thread: int
    correlation: int
    link: int


@contextmanager
def recorded(profiler_device: str | None) -> Iterator[list[Event]]:
    """Profile the body; the list that is handed out is filled when the body has ended without an error.

    `profiler_device` is the accelerator whose kernels are wanted (`cuda`, `xpu`), or None for the host alone.
    Raises MeasureError where another profiler is already running in this process.
    """
    from torch._C._autograd import _profiler_enabled
    from torch.autograd import profiler as autograd_profiler

    events: list[Event] = []
    if not _one_profiler.acquire(blocking=False):
        raise MeasureError(
            "a step that is being measured calls opcost itself.\n"
            "Expected: one measurement at a time in a process.\nCall opcost.check or opcost.profile outside the step."
        )
    try:
        # torch starts a second profiler without complaint, and one of the two comes back empty.
        if _profiler_enabled():
            raise MeasureError(
                "another profiler is at work in this process.\n"
                "Expected: no other one, since torch allows one at a time.\n"
                "Stop the other profiler around the opcost test, or run the test by itself."
            )
        profiler: Any = autograd_profiler.profile(use_kineto=True, use_device=profiler_device)
        profiler.__enter__()
        try:
            yield events
        finally:
            profiler.__exit__(None, None, None)
        events.extend(_read(profiler.kineto_results.events()))
    finally:
        _one_profiler.release()


def step_mark() -> Any:
    """The annotation that stands around one step, as a context manager."""
    from torch.autograd.profiler import record_function

    return record_function(STEP_MARK)


def _read(raw_events: list[Any]) -> list[Event]:
    from torch._C._autograd import DeviceType

    host = DeviceType.CPU
    has_flag = bool(raw_events) and hasattr(raw_events[0], "is_user_annotation")
    has_end = bool(raw_events) and hasattr(raw_events[0], "end_ns")
    annotations = {raw.name() for raw in raw_events if raw.scope() == _USER_SCOPE}
    events = []
    for raw in raw_events:
        name = raw.name()
        link = raw.linked_correlation_id()
        if raw.device_type() != host:
            # A user's annotation is repeated on the device's timeline and spans idle time: it is no work.
            if raw.is_user_annotation() if has_flag else name in annotations:
                continue
            kind = Kind.DEVICE
        elif raw.scope() == _USER_SCOPE:
            kind = Kind.ANNOTATION
        elif raw.is_async() or _OVERHEAD.match(name):
            continue
        elif link or _RUNTIME.match(name):
            kind = Kind.RUNTIME
        elif raw.scope() == _BACKWARD_SCOPE or name.startswith("autograd::engine::evaluate_function"):
            kind = Kind.BACKWARD
        else:
            kind = Kind.OPERATOR
        start = raw.start_ns()
        end = raw.end_ns() if has_end else start + raw.duration_ns()
        events.append(Event(name, kind, start, end, raw.start_thread_id(), raw.correlation_id(), link))
    return events
