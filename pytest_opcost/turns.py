"""Turns: on one device of a host one process measures at a time, whichever run and worker it belongs to."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.errors import TurnError
from pytest_opcost.host_lock import holder, try_lock, unlock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: Seconds between two looks: short beside a measurement, long beside what a look costs those who measure.
LOOK_EVERY = 0.05

_MEND = (
    "{}.\nExpected: a folder for temporary files that can be written.\nChoose another one: TMPDIR=DIR pytest --opcost"
)


class Turns:
    """The turns that this process takes. With `wait` it waits for those of others, else it refuses to measure.

    `waited` is for how many seconds it did, in all.
    """

    def __init__(self, *, wait: bool = True) -> None:
        self._wait = wait
        self._held: set[str] = set()
        self.waited = 0.0

    @contextmanager
    def on(self, places: Iterable[str], waiting: Callable[[int | None], None] = lambda pid: None) -> Iterator[None]:
        """Hold the turn on these devices, each named alike by all processes of the host; `waiting` is called with the
        process that holds one, again and again until it lets go.

        Raises TurnError where another process measures and waiting is refused, or where no turns can be taken.
        """
        with ExitStack() as held:
            # In one order everywhere: nobody waits for one who waits for him.
            for place in sorted(set(places) - self._held):
                held.enter_context(self._one(place, waiting))
            yield

    @contextmanager
    def _one(self, place: str, waiting: Callable[[int | None], None]) -> Iterator[None]:
        path = _folder() / f"pytest-opcost-{place.replace(':', '-')}.lock"
        begun = time.monotonic()
        with ExitStack() as held:
            # Who has just measured queues behind those that wait, the first of whom holds this.
            with self._lock(path.with_suffix(".next"), path, place, waiting):
                held.enter_context(self._lock(path, path, place, waiting))
            self.waited += time.monotonic() - begun
            self._held.add(place)
            held.callback(self._held.discard, place)
            yield

    @contextmanager
    def _lock(self, path: Path, turn: Path, place: str, waiting: Callable[[int | None], None]) -> Iterator[None]:
        while (handle := _try(path)) is None:
            if not self._wait:
                raise TurnError(_refusal(place, holder(turn)))
            waiting(holder(turn))
            time.sleep(LOOK_EVERY)
        try:
            yield
        finally:
            unlock(path, handle)


def _folder() -> Path:
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        raise TurnError(_MEND.format(f"no place for a file by which to take turns: {error.strerror}")) from None


def _try(path: Path) -> int | None:
    try:
        return try_lock(path)
    except OSError as error:
        raise TurnError(_MEND.format(f"{path}: no file by which to take turns: {error.strerror or error}")) from None


def _refusal(place: str, process: int | None) -> str:
    which = "another process" if process is None else f"process {process}"
    return (
        f"not measured: {which} of this host measures on {place}, and both would be dearer for it.\n"
        "Expected: one at a time, since --opcost-turns=refuse does not wait.\n"
        "Wait for the turn: pytest --opcost --opcost-turns=wait"
    )
