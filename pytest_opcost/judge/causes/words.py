"""What causes are told with: names, numbers and places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge.causes.delta import Cause

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_opcost.judge.causes.delta import Delta

_MOST_NAMES = 3


def cause(kind: str, message: str, delta: Delta, explains: Iterable[str] = (), *, partly: bool = False) -> Cause:
    """A cause that starts at this operator, its place added to the message; `partly`, not in all places that it has."""
    modules = {place.module for place in delta.places()}
    lines = {place.line for place in delta.places()}
    module, line = (one.pop() if len(one) == 1 else "" for one in (modules, lines))
    told = f"{message}{where(delta, partly=partly)}"
    return Cause(kind, told, delta.name, module, line, tuple(dict.fromkeys((delta.name, *sorted(explains)))))


def where(delta: Delta, *, partly: bool = False) -> str:
    """`, in conv1 at model.py:12`; `, in conv1, conv2`; nothing where no place is known."""
    places = delta.places()
    modules = list(dict.fromkeys(place.module for place in places if place.module))
    lines = list(dict.fromkeys(place.line for place in places if place.line))
    some = "one or more of " if partly and len(modules) > 1 else ""
    words = [f"in {some}{listed(modules)}"] if modules else []
    words += [f"at {listed(lines)}"] if lines and (len(lines) == 1 or len(modules) < 2) else []
    return f", {' '.join(words)}" if words else ""


def listed(names: Sequence[str]) -> str:
    """`a, b, c and 4 more`."""
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def times(count: int, word: str) -> str:
    """`a copy`, `3 copies`."""
    if count == 1:
        return f"{'an' if word[0] in 'aeio' else 'a'} {word}"
    return f"{count} {word.removesuffix('y')}ies" if word.endswith("y") else f"{count} {word}s"


def often(delta: Delta) -> str:
    """How often an operator is called: `23 times a step (was 1)`."""
    before, after = delta.calls
    return f"{after} time{'' if after == 1 else 's'} a step (was {before})"
