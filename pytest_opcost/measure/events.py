"""One profiled run of steps -> plain events. The only file that reads torch's profiler, whose details are private."""

from __future__ import annotations

import os
import re
import threading
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pytest_opcost.errors import MeasureError
from pytest_opcost.families import ENGINE_WRAPPER
from pytest_opcost.measure import compat
from pytest_opcost.measure.inputs import inputs_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Kineto reads its log level when its library is loaded, that is when torch is first imported.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")

#: The annotation around every step, by which events are told apart later. No user's annotation is called so.
STEP_MARK = "pytest-opcost::step"

IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]

_USER_SCOPE = 7  # at::RecordScope::USER_SCOPE: record_function() and the optimizers' own annotations
_BACKWARD_SCOPE = 1  # at::RecordScope::BACKWARD_FUNCTION
_RUNTIME = re.compile(r"(cuda|hip)[A-Z]|cu[A-Z]\w*$|ze[A-Z]\w*$")
#: Rows of the profiler's own overhead.
OVERHEAD = re.compile(
    r"Activity Buffer Request|Buffer Flush|Instrumentation|Resource|Lazy Function Loading|Command Buffer Full"
    r"|Runtime Triggered Module Loading|Kernel Launch|.*Overhead$"
)

# Graphs of torch.compile bear hashes and numbers that change with every edit, and with what was compiled before.
_COMPILED = re.compile(r"^(## Call CompiledFxGraph) \w+( ##)$|^(Torch-Compiled Region): \d+/\d+.*$")

# torch allows one profiler at a time in a process; two would silently empty each other.
_one_profiler = threading.Lock()
_PUSHED_ASIDE = (
    "another profiler pushed ours aside, so that nothing was recorded.\n"
    "Expected: no other one, since torch allows one at a time in a process.\n"
    "Take the profiler out of the step, or out of the other thread that runs it."
)


class Kind(IntEnum):
    """What an event is: only operators and runtime calls take host time, only device work takes device time.

    The profiler's own overhead is taken from the operator that it interrupts, and given to nobody.
    """

    OPERATOR = 0
    BACKWARD = 1
    ANNOTATION = 2
    RUNTIME = 3
    DEVICE = 4
    LEFT_OUT = 5
    MEMORY = 6
    OVERHEAD = 7


#: The kinds that are rows of a profile.
OPERATORS = frozenset({Kind.OPERATOR, Kind.BACKWARD})


class Event(NamedTuple):
    """One event of a profile; times in nanoseconds. `link` joins device work to the operator that launched it."""

    name: str
    kind: Kind
    start: int
    end: int
    thread: int
    correlation: int
    link: int


@dataclass(frozen=True, slots=True)
class Events:
    """All events of a profile, column by column, each of shape (events,): an object for each would cost more time than
    all that is done with them. `name` holds indices into `names`, which are unique; times are nanoseconds.

    Only where asked for there are `inputs`, the input tensors in words, and `nbytes`, what a memory event allocated
    (freed, where negative).
    """

    names: list[str]
    name: IntArray
    kind: IntArray
    start: IntArray
    end: IntArray
    thread: IntArray
    correlation: IntArray
    link: IntArray
    inputs: tuple[str, ...] = ()
    nbytes: tuple[int, ...] = ()

    @classmethod
    def of(cls, events: Iterable[Event]) -> Events:
        """The columns of some events."""
        names, kinds, *rest = [list(column) for column in zip(*events)] or [[] for _ in Event._fields]
        ids: dict[str, int] = {}
        index = [ids.setdefault(name, len(ids)) for name in names]
        columns = (np.array(column, dtype=np.int64) for column in (index, kinds, *rest))
        name, kind, start, end, thread, correlation, link = columns
        return cls(list(ids), name, kind, start, end, thread, correlation, link)


@contextmanager
def recorded(profiler_device: str | None, *, inputs: bool = False, allocations: bool = False) -> Iterator[list[Events]]:
    """Profile the body; its events are in the list that is handed out when the body has ended without an error.

    `profiler_device` is the accelerator whose kernels are wanted (`cuda`, `xpu`), or None for the host alone.
    `inputs` and `allocations` are recorded too if asked for, which costs time and keeps tensors alive: never in a timed
    pass. Threads that the body starts are recorded, but not together with allocations.
    Raises MeasureError where another profiler is already running in this process, or pushes this one aside.
    """
    from torch._C._autograd import _profiler_enabled

    profile: list[Events] = []
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
        profiler = compat.profiler(profiler_device, inputs=inputs, allocations=allocations)
        with _undisturbed(profiler):
            yield profile
        if not (raw_events := profiler.kineto_results.events()):
            raise MeasureError(_PUSHED_ASIDE)
        events = read_events(raw_events, host_only=profiler_device is None)
        if inputs:
            events = replace(events, inputs=tuple(map(inputs_in_words, raw_events)))
        if allocations:
            events = replace(events, nbytes=tuple(raw.nbytes() for raw in raw_events))
        profile.append(events)
    finally:
        _one_profiler.release()


@contextmanager
def _undisturbed(profiler: Any) -> Iterator[None]:
    """The profiler at work around the body; MeasureError where it is not the one that is at work at its end."""
    with _pushed_aside():
        profiler.__enter__()
    try:
        yield
    except BaseException:
        # What the body raised matters more than what has become of the profile.
        with suppress(RuntimeError):
            profiler.__exit__(None, None, None)
        raise
    with _pushed_aside():
        profiler.__exit__(None, None, None)


@contextmanager
def _pushed_aside() -> Iterator[None]:
    """Torch's error as ours. Newer versions only warn, on stderr, and hand out an empty profile."""
    try:
        yield
    except RuntimeError as error:
        raise MeasureError(_PUSHED_ASIDE) from error


def step_mark() -> Any:
    """The annotation that stands around one step, as a context manager."""
    from torch.autograd.profiler import record_function

    return record_function(STEP_MARK)


def lasting_name(name: str) -> str:
    """The name without what changes from one compilation to the next."""
    return _COMPILED.sub(r"\1\2\3", name)


def read_events(raw_events: list[Any], *, host_only: bool) -> Events:
    """Torch's events as columns. Where only the host was profiled, nothing links, and everything is the host's."""
    if not raw_events:
        return Events.of([])
    raw = type(raw_events[0])

    def column(method: Any, values: Iterable[Any] = raw_events) -> IntArray:
        return np.fromiter(map(method, values), dtype=np.int64, count=len(raw_events))

    ids: defaultdict[str, int] = defaultdict(count().__next__)  # a new name gets the next number
    name = column(ids.__getitem__, map(raw.name, raw_events))
    lasting: defaultdict[str, int] = defaultdict(count().__next__)
    name = np.array([lasting[lasting_name(text)] for text in ids], dtype=np.int64)[name]
    names = list(lasting)
    start, scope, zeros = column(raw.start_ns), column(raw.scope), np.zeros(len(raw_events), dtype=np.int64)
    link = zeros if host_only else column(raw.linked_correlation_id)

    def named(is_such: Callable[[str], object]) -> BoolArray:
        such: BoolArray = np.array([bool(is_such(text)) for text in names])[name]
        return such

    kind = np.full(len(raw_events), Kind.OPERATOR, dtype=np.int64)
    kind[(scope == _BACKWARD_SCOPE) | named(lambda text: text.startswith(ENGINE_WRAPPER))] = Kind.BACKWARD
    kind[(link != 0) | named(_RUNTIME.match)] = Kind.RUNTIME
    kind[named(OVERHEAD.match)] = Kind.OVERHEAD
    kind[column(raw.is_async) != 0] = Kind.LEFT_OUT
    kind[scope == _USER_SCOPE] = Kind.ANNOTATION
    if not host_only:
        told = hasattr(raw, "is_user_annotation")
        annotated = column(raw.is_user_annotation) != 0 if told else np.isin(name, name[scope == _USER_SCOPE])
        # An annotation may bear an operator's name.
        alike = np.stack([name, scope, link != 0, annotated]) if told else np.arange(len(raw_events))[np.newaxis]
        on_device = _on_device(raw_events, raw, alike)
        kind[on_device] = Kind.DEVICE
        # A user's annotation is repeated on the device's timeline and spans idle time: it is no work.
        kind[on_device & annotated] = Kind.LEFT_OUT
    kind[named(lambda text: text == "[memory]")] = Kind.MEMORY
    return Events(
        names=names,
        name=name,
        kind=kind,
        start=start,
        end=start + column(raw.duration_ns),
        thread=column(raw.start_thread_id),
        correlation=zeros if host_only else column(raw.correlation_id),
        link=link,
    )


def _on_device(raw_events: list[Any], raw: Any, alike: IntArray) -> BoolArray:
    """Which events are not the host's; of those that agree in `alike`, of shape (keys, events), one is asked, since
    torch makes an object of each answer.
    """
    from torch._C._autograd import DeviceType

    _, first, which = np.unique(alike, axis=1, return_index=True, return_inverse=True)
    there: BoolArray = np.array([raw.device_type(raw_events[i]) != DeviceType.CPU for i in first.tolist()])
    return there[which.reshape(-1)]
