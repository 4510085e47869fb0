"""Turns: on one device of a host one process measures at a time, whichever run and worker it belongs to."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.errors import TurnError
from pytest_opcost.host_lock import HostLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: Seconds between two looks: short beside a measurement, long beside what a look costs those who measure.
LOOK_EVERY = 0.05

_PREFIX = "pytest-opcost-"

_MEND = (
    "{}.\nExpected: a folder for temporary files that can be written.\nChoose another one: TMPDIR=DIR pytest --opcost"
)


class Turns:
    """The turns that this process takes. With `wait` it waits for those of others, else it refuses to measure.

    `waited` is for how many seconds it did, in all.
    """

    def __init__(self, *, wait: bool = True) -> None:
        self._wait = wait
        self._locks: dict[str, tuple[HostLock, HostLock]] = {}
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

    def end(self) -> None:
        """Take away the files that nobody else uses."""
        for locks in self._locks.values():
            for lock in locks:
                lock.remove()
        self._locks.clear()

    @contextmanager
    def _one(self, place: str, waiting: Callable[[int | None], None]) -> Iterator[None]:
        if place not in self._locks:
            path = _folder() / f"{_PREFIX}{place.replace(':', '-')}.lock"
            self._locks[place] = HostLock(path), HostLock(path.with_suffix(".next"))
        turn, queue = self._locks[place]
        begun = time.monotonic()
        # Who has just measured queues behind those that wait, the first of whom holds the other one.
        self._take(queue, turn, place, waiting)
        try:
            self._take(turn, turn, place, waiting)
        finally:
            queue.give_back()
        self.waited += time.monotonic() - begun
        self._held.add(place)
        try:
            yield
        finally:
            self._held.discard(place)
            turn.give_back()

    def _take(self, lock: HostLock, turn: HostLock, place: str, waiting: Callable[[int | None], None]) -> None:
        while not _taken(lock):
            if not self._wait:
                raise TurnError(_refusal(place, turn.holder))
            waiting(turn.holder)
            time.sleep(LOOK_EVERY)


def sweep() -> None:
    """Take away the files of processes that were killed; those that somebody uses stay."""
    try:
        left = [path for ending in (".lock", ".next") for path in _folder().glob(f"{_PREFIX}*{ending}")]
    except (TurnError, OSError):
        return
    for path in left:
        lock = HostLock(path)
        with suppress(OSError):  # another user's, say
            lock.take()
        lock.remove()


def _folder() -> Path:
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        raise TurnError(_MEND.format(f"no place for a file by which to take turns: {error.strerror}")) from None


def _taken(lock: HostLock) -> bool:
    try:
        return lock.take()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise TurnError(_MEND.format(f"{where}no file by which to take turns: {error.strerror or error}")) from None


def _refusal(place: str, process: int | None) -> str:
    which = "another process" if process is None else f"process {process}"
    return (
        f"not measured: {which} of this host measures on {place}, and both would be dearer for it.\n"
        "Expected: one at a time, since --opcost-turns=refuse does not wait.\n"
        "Wait for the turn: pytest --opcost --opcost-turns=wait"
    )
