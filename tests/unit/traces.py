"""Hand-made events for the unit tests of exact facts; times are nanoseconds, a step lasts 1,000."""

from __future__ import annotations

from dataclasses import replace

from pytest_opcost.measure.events import STEP_MARK, Event, Events, Kind


def event(name, start, end, kind=Kind.OPERATOR, thread=1, correlation=0, link=0):
    return Event(name, kind, start, end, thread, correlation, link)


def step(number=0):
    """The mark of a step."""
    return event(STEP_MARK, 1000 * number, 1000 * (number + 1), Kind.ANNOTATION)


def kernel(name, link, start=90_000):
    """A kernel, which ran long after all steps unless it is said when."""
    return event(name, start, start + 10, Kind.DEVICE, thread=7, link=link)


def runtime(name, start, end, thread=1):
    return event(name, start, end, Kind.RUNTIME, thread)


def memory(at, thread=1):
    return event("[memory]", at, at, Kind.MEMORY, thread)


def columns(*pairs):
    """Events as columns: each an event, or an event with its inputs (a text) or the bytes that it allocated."""
    pairs = [pair if isinstance(pair[0], Event) else (pair, None) for pair in pairs]
    return replace(
        Events.of(one for one, _ in pairs),
        inputs=tuple(more if isinstance(more, str) else "" for _, more in pairs),
        nbytes=tuple(more if isinstance(more, int) else 0 for _, more in pairs),
    )
