"""What goes with every measurement of a run: its turn on the device, and a line on the terminal while it lasts."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_opcost.status import StatusLine, duration
from pytest_opcost.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_opcost.costs import Environment
    from pytest_opcost.options import Options
    from pytest_opcost.screen import Screen


@dataclass(slots=True)
class Course:
    """How far a series of `count` rounds is, or of so many at most: `done` are over since `begun`."""

    what: str
    count: int
    at_most: bool = False
    done: int = 0
    begun: float = field(default_factory=time.monotonic)

    def told(self, part: float) -> str:
        """Which round it is, and how long all will take, as far as that can be known; `part` of this one is over."""
        most = "at most " * self.at_most
        text = f"{self.what}, round {self.done + 1} of {most}{self.count}"
        over = self.done + part
        if not over:
            return text
        return f"{text}, {most}{duration((time.monotonic() - self.begun) * (self.count - over) / over)} left"


class Measuring:
    """Takes turns for the tests of one run, and tells what is at work."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._turns = Turns(wait=options.turns_wait)
        self._status, self._private = StatusLine(None), False
        self._devices: defaultdict[str, set[str]] = defaultdict(set)
        self._environments: Sequence[Environment] = ()

    def begin(self, environments: Sequence[Environment], screen: Screen | None) -> None:
        """Learn what the devices are that were asked for, in their order, and where to tell what is at work."""
        self._environments = environments
        self._status, self._private = StatusLine(screen), screen is not None and not screen.shared

    @property
    def waited(self) -> float:
        """Seconds that measurements waited for others, in all."""
        return self._turns.waited

    def end(self) -> None:
        """Leave nothing behind."""
        self._turns.end()

    def expect(self, devices: Mapping[str, str]) -> None:
        """Learn on which device each test measures, by its id, before it has."""
        for test, device in devices.items():
            self._devices[test].add(device)

    def devices_of(self, tests: Iterable[str]) -> set[str]:
        """The devices that these tests measure on, as far as that is known."""
        return {device for test in tests for device in self._devices[test]}

    def on_device(self, tests: Iterable[str]) -> bool:
        """Whether any of these tests measures on another device than the CPU, as far as that is known."""
        return not self.devices_of(tests) <= {"cpu"}

    @contextmanager
    def step(self, test: str, device: str) -> Iterator[None]:
        """While a step of this test is measured in this process."""
        self._devices[test].add(device)
        with self.turn([test], [device]):
            if self._private:  # else what the step prints would stand in the midst of it
                self._status.tell(f"{_short(test)}: measuring")
            try:
                yield
            finally:
                self._status.clear()

    @contextmanager
    def round(self, tests: Sequence[str], course: Course) -> Iterator[Callable[[int, str], None] | None]:
        """While these tests are measured in a fresh process. Yields what is to be told of it now and then: how many
        tests are over, and which one runs; None where nobody sees it.
        """

        def tell(finished: int, running: str) -> None:
            self._status.tell(f"{_short(running or tests[0])}: {course.told(finished / len(tests))}")

        with self.turn(tests, self.devices_of(tests)):
            tell(0, "")
            try:
                yield tell if self._status.visible else None
            finally:
                self._status.clear()
        course.done += 1

    @contextmanager
    def turn(self, tests: Sequence[str], devices: Iterable[str]) -> Iterator[None]:
        """While nobody else of this host may measure on these devices; not drawn but for the waiting."""
        if self._options.only_measure:  # the run that asked for it has the turn
            yield
            return

        def waiting(process: int | None) -> None:
            self._status.tell(f"{_short(tests[0])}: waits for its turn, process {process} measures")

        with self._turns.on({self._place(device) for device in devices}, waiting):
            self._status.clear()
            yield

    def _place(self, device: str) -> str:
        """What all processes of the host call this device: they may count the cards differently."""
        for name, environment in zip(self._options.devices, self._environments):
            if name == device and environment.card is not None:
                return f"{environment.device}-{environment.card}"
        return device


def _short(test: str) -> str:
    """A test's own name, in letters that take one column each."""
    return test.rpartition("::")[2].encode("ascii", "replace").decode()
