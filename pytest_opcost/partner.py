"""Two processes that measure the same step a few steps at a time, in turns, so that the same moments fall on both.

What moves host time from minute to minute, another guest's use of caches and memory or the clock, is then in both
figures alike. Measured on a shared AMD EPYC, LeNet's training: the whole step differed by 0.5 % between two processes
in such turns, by 1.5 % between two that ran one after the other, and by 1.9 % between any two.

What is left then is where in memory the model happens to lie, which both draw anew each time that they build it: both
run each test several times, and the mean is what they found.
"""

from __future__ import annotations

import math
import socket
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: A turn lasts as long, or one step. A switch costs some 0.1 ms of cold caches, and more than one step of each kind
#: falls into a turn where steps are short.
TURN_SECONDS = 0.02
#: How long a partner may take to come to the same check beyond twice the time that it took ourselves.
PATIENCE_SECONDS = 20.0

#: Where a partner stands that comes to no check any more.
_GONE = (math.inf,)


class Partner:
    """The other process, at the end of a connection that both have. Whoever is `first` begins.

    Both run the same tests in the same order, each of which may have checks that the other one lacks: then one measures
    alone, while the other one waits at the next check that both have. A partner that dies or does not come is `lost`.
    """

    def __init__(self, connection: socket.socket, tests: Sequence[str], *, first: bool) -> None:
        """`tests` are those that both run, or more, in their order."""
        self._connection, self._tests, self._first = connection, list(tests), first
        self._incoming = b""
        #: The test, by its number, its repetition and the check that we, and they, have come to.
        self._own: tuple[float, ...] = (-1,)
        self._theirs: tuple[float, ...] = (-1,)
        #: The processor time that the other process had used by its last word.
        self.cpu_seconds = 0.0
        self._began = time.monotonic()
        self.lost = False

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Partner:
        """The partner that the request of a round tells of, see `rounds`."""
        connection = socket.socket(fileno=data["connection"])
        connection.set_inheritable(False)
        return cls(connection, data["tests"], first=data["first"])

    def at(self, test: str, repetition: int = 0) -> None:
        """From now on this test runs here, for the so manieth time."""
        if test in self._tests and (place := (self._tests.index(test), repetition)) != self._own[:2]:
            self._own = (*place, 0)

    def end(self) -> None:
        """No test is left to run here."""
        self.say("at", *_GONE)
        self._connection.close()

    @contextmanager
    def met(self) -> Iterator[Alternation]:
        """Wait until the other process has come to this check too, and for our first turn; in the end, until neither of
        them measures. What the body measures is measured in these turns.
        """
        self._own = (*self._own[:-1], self._own[-1] + 1)
        turns = Alternation(self if self._meets() else None, self.cpu_seconds, ours=self._first)
        try:
            yield turns
        finally:
            turns.end()
            self._began = time.monotonic()

    def _meets(self) -> bool:
        patience = PATIENCE_SECONDS + 2 * (time.monotonic() - self._began)
        self.say("at", *self._own)
        while self._theirs < self._own and not self.lost:
            self.hear(patience)
        return self._theirs == self._own

    def say(self, word: str, *figures: float) -> None:
        """Tell the other process that we are "at" a check, that the next turn is "yours", or that we have "done"."""
        if self.lost:
            return
        with suppress(OSError):  # they are gone: what they said last tells whether they had to
            self._connection.sendall(" ".join([word, repr(time.process_time()), *map(repr, figures)]).encode() + b"\n")

    def hear(self, seconds: float | None = None) -> str:
        """The next word of the other process; "done", and it is lost, where none comes in so many seconds."""
        while not self.lost and b"\n" not in self._incoming:
            try:
                self._connection.settimeout(seconds)
                read = self._connection.recv(4096)
            except OSError:  # a timeout too
                read = b""
            self._incoming += read
            if not read:
                self.lost = True
                self._connection.close()  # so that they need not wait for us either
        if self.lost:
            return "done"
        line, _, self._incoming = self._incoming.partition(b"\n")
        word, cpu, *place = line.decode().split()
        self.cpu_seconds = float(cpu)
        if word == "at":
            self._theirs = tuple(map(float, place))
        return word


class Alternation:
    """The turns of one measurement; without a partner, all the time is ours."""

    def __init__(self, partner: Partner | None = None, cpu_before: float = 0.0, *, ours: bool = True) -> None:
        self._partner, self._cpu_before = partner, cpu_before
        #: Seconds spent waiting for our turns, since the first one.
        self.waited = 0.0
        self._alone = partner is None
        if not ours:
            self._wait()
        self._since = time.perf_counter()

    def next_step(self) -> None:
        """To be called between two steps: where our turn is over, the other process has its own before we go on."""
        now = time.perf_counter()
        if self._alone or now - self._since < TURN_SECONDS:
            return
        assert self._partner is not None
        self._partner.say("yours")
        self._wait()
        self._since = time.perf_counter()
        self.waited += self._since - now

    def end(self) -> None:
        """We have measured; wait until the other process has, too."""
        if self._partner is None:
            return
        self._partner.say("done")
        while not self._alone:
            self._wait()

    def _wait(self) -> None:
        if not self._alone:
            assert self._partner is not None
            self._alone = self._partner.hear() == "done"

    @property
    def their_seconds(self) -> float:
        """The processor time that the other process used in its turns, as far as it has told."""
        return 0.0 if self._partner is None else self._partner.cpu_seconds - self._cpu_before
