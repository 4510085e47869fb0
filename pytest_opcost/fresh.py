"""Rounds in fresh processes for the checks of one run: of one test that is suspected, or of all tests together."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from pytest_opcost import rounds
from pytest_opcost.cores import cores
from pytest_opcost.errors import RoundError
from pytest_opcost.judge.reference import HALFWAY
from pytest_opcost.measuring import Course
from pytest_opcost.merging import REPETITIONS
from pytest_opcost.workers import is_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Generator, Iterator, Sequence

    import pytest

    from pytest_opcost.base import Base
    from pytest_opcost.costs import CostProfile
    from pytest_opcost.measuring import Measuring
    from pytest_opcost.options import Options

#: Seconds that one test may take in a round, its share of the process's start included.
PATIENCE = 300.0
#: How many times both sides of a further pair run the one test that is suspected. To start two processes takes as long
#: as to run a test ten times.
MORE_REPETITIONS = 4 * REPETITIONS


@dataclass(frozen=True, slots=True)
class Pairs:
    """Rounds of one check on both sides, each in the order in which they were made, and whether the two of every pair
    measured in turns, a few steps each.
    """

    head: list[CostProfile]
    base: list[CostProfile]
    in_turns: bool


class Fresh:
    """Measures the checks of a run again in processes of their own, which re-run the very tests.

    `tests` are those of the run, in its order: where many are to be measured, a round runs all of them, so that what
    the machine does at one moment does not fall on one test alone.
    """

    def __init__(
        self,
        config: pytest.Config,
        options: Callable[[], Options],
        tests: Callable[[], Sequence[str]],
        measuring: Measuring,
    ) -> None:
        self._config, self._options, self._tests, self._measuring = config, options, tests, measuring
        #: The other side, where there is one.
        self.base: Base | None = None
        self._begun: set[str] = set()  # tests whose rounds were made
        self._apart: set[str] = set()  # those of which some were made one after the other, not in turns
        self._made: defaultdict[tuple[str, str, str | None], list[CostProfile]] = defaultdict(list)
        #: Rounds that were measured along with those of another check.
        self._spare: defaultdict[tuple[str, str | None], list[CostProfile]] = defaultdict(list)
        #: Processes that have started, and measure when they are asked.
        self._started: dict[tuple[str, str | None], Generator[rounds.Round, None, None]] = {}
        self._failures: dict[tuple[str, str], str] = {}
        self._turns: Counter[str] = Counter()  # rounds begun, by side
        self._confirming: dict[tuple[str, str | None], Course] = {}

    def one(self, test: str, check: str | None) -> CostProfile:
        """One more round of one check, times alone. Raises RoundError where the test fails there.

        The process runs the whole test: what it measured of other checks is theirs, should they ask.
        """
        recording = ("head", test, check) in self._made  # one more, in the place of a round on a shared core
        begun = Course("recording calm rounds" if recording else "confirming", self._options().confirm, at_most=True)
        course = self._confirming.setdefault((test, check), begun)
        if spare := self._spare[test, check]:
            course.done += 1
            return spare.pop(0)
        if recording:
            (found,) = self._together([self._start(rounds.head_side(self._config), [test])], course)
        else:
            found = self._next(test, check, course)
        if (profile := found.profiles.get((test, check))) is None:
            raise _failed(test, found.failures.get(test))
        for one, measured in found.profiles.items():
            if one != (test, check):
                self._spare[one].append(measured)
        return profile

    def _next(self, test: str, check: str | None, course: Course) -> rounds.Round:
        """The next round of a test, of those that have started, or else of some that start now."""
        if (found := next(self._started.get((test, check), iter(())), None)) is not None:
            return found
        side = rounds.head_side(self._config)
        starts = [self._start(side, [test]) for _ in range(self._worth_starting(course))]
        self._started[test, check] = started = self._together(starts, course)
        return next(started)

    @contextmanager
    def asked_for(self, test: str, check: str | None) -> Iterator[None]:
        """While single rounds of a check may be asked for: what has started and waits for that is ended afterwards."""
        try:
            yield
        finally:
            if (started := self._started.pop((test, check), None)) is not None:
                started.close()

    def together(self, test: str, check: str | None, count: int) -> list[CostProfile]:
        """So many rounds of one check, times alone, made when first asked for, together with all tests of the run.

        Raises RoundError where the test fails in one of them.
        """
        if not count:
            return []
        self._begin([rounds.head_side(self._config)], test, count, exact=False)
        made, failure = self._made["head", test, check], self._failures.get(("head", test))
        if failure is not None or not made:
            raise _failed(test, failure)
        return made

    def pairs(self, test: str, check: str | None, count: int) -> Pairs:
        """So many rounds of one check on both sides in turns, made when first asked for, for all tests of the run; what
        is exact is read in the first round of each side.

        Raises RoundError where the test fails on head's side, BaseError where the base imports head's code.
        """
        self._begin(self._sides(), test, count, exact=True)
        pairs = self._pairs_of(test, check)
        failure = self._failures.get(("head", test))
        if failure is not None or (pairs.base and not pairs.head):
            raise _failed(test, failure, in_pairs=True)
        return pairs

    def more_pairs(self, test: str, check: str | None, count: int) -> Pairs:
        """The rounds of one check that there are, and as many pairs of its test again."""
        self._measure(self._sides(), [test], count, exact=False, repetitions=MORE_REPETITIONS)
        return self._pairs_of(test, check)

    def _pairs_of(self, test: str, check: str | None) -> Pairs:
        head, base = (self._made[side, test, check] for side in ("head", "base"))
        return Pairs(head, base, in_turns=test not in self._apart)

    def base_failure(self, test: str) -> str | None:
        """Why the base has no figures of a test, if it has none."""
        return self._failures.get(("base", test))

    def _sides(self) -> list[rounds.Side]:
        assert self.base is not None
        head = rounds.head_side(self._config)
        return [head, self.base.side(head)]

    def _begin(self, sides: list[rounds.Side], test: str, count: int, *, exact: bool) -> None:
        """Make the rounds of a test, and of all tests of the run with it, unless they were made."""
        if test in self._begun:
            return
        tests = [*self._tests()] if not self._begun else []
        tests = tests if test in tests else [test]
        self._begun.update(tests)
        self._measure(sides, tests, count, exact=exact)

    def _measure(
        self, sides: list[rounds.Side], tests: list[str], count: int, *, exact: bool, repetitions: int = REPETITIONS
    ) -> None:
        course = Course("recording" if self.base is None else "comparing", count * len(sides))
        without = {side.name for side in sides} if exact else set()  # of these nothing exact is known
        turns = rounds.in_turns(sides, tests, count, self._turns[sides[0].name])
        # Threads spin for a while when they have nothing to do, on cores that the other process has its turn on.
        on_one_thread = self._options().threads == 1 and not self._measuring.on_device(tests)
        in_pairs = len(sides) > 1 and on_one_thread
        if not in_pairs:
            self._apart.update(tests)
        while batch := list(islice(turns, self._worth_starting(course, in_pairs=in_pairs))):
            starts = []
            for side, order in batch:
                starts.append(self._start(side, order, exact=side.name in without, repetitions=repetitions))
                without.discard(side.name)
            with closing(self._in_turns(starts, course) if in_pairs else self._together(starts, course)) as made:
                for one in made:
                    self._keep(one, tests)

    def _in_turns(self, starts: Sequence[rounds.Start], course: Course) -> Generator[rounds.Round, None, None]:
        """These rounds, every two of which measure in turns, a few steps each. Tests that fail so do it one after the
        other: they may not bear a process beside them that has their port, their file or the memory.
        """
        if beside := [*_with_tests(starts, self._apart, among=False)]:
            made = [*self._together(beside, course, in_pairs=True)]
            failed = {test for one in made for test in one.failures if test in one.ran}
            yield from (one.without(failed) for one in made)
            self._apart |= failed
        if alone := [*_with_tests(starts, self._apart, among=True)]:
            course.count += len(alone) if beside else 0
            yield from self._together(alone, course)

    def _together(
        self, starts: Sequence[rounds.Start], course: Course, *, in_pairs: bool = False
    ) -> Generator[rounds.Round, None, None]:
        """These rounds, whose processes start side by side; none after one of the base that cannot even begin."""
        begun: Generator[rounds.Round, None, None] | None = None
        timeout = PATIENCE * len(starts[0].tests)
        on_device = self._measuring.on_device(starts[0].tests)
        try:
            for start in starts:
                with self._measuring.round(start.tests, course) as watch:
                    begun = begun or rounds.run_together(
                        starts, self._options(), timeout=timeout, watch=watch, in_pairs=in_pairs, on_device=on_device
                    )
                    one = next(begun)
                yield one
        except RoundError as error:
            if start.side.name != "base":
                raise
            yield rounds.Round(start.side.name, {}, dict.fromkeys(start.tests, str(error)))  # so all of its tests fail
        finally:
            if begun is not None:
                begun.close()

    def _keep(self, one: rounds.Round, tests: list[str]) -> None:
        """Keep what a round found, and take off the list what cannot be compared."""
        if self.base is not None and one.side == "base":
            self.base.refuse(one)
            # Of what the base cannot run, head need not be measured.
            tests[:] = [test for test in tests if test not in one.failures]
        self._failures |= {(one.side, test): failure for test, failure in one.failures.items()}
        for (test, check), profile in one.profiles.items():
            self._made[one.side, test, check].append(profile)

    def _worth_starting(self, course: Course, *, in_pairs: bool = False) -> int:
        count = worth_starting(course, is_worker=is_worker(self._config))
        return max(count - count % 2, 2) if in_pairs else count

    def _start(
        self, side: rounds.Side, tests: Sequence[str], *, exact: bool = False, repetitions: int = 1
    ) -> rounds.Start:
        """The next round on a side."""
        turn = self._turns[side.name]
        self._turns[side.name] += 1
        return rounds.Start(side, tests, turn, exact, repetitions if self.base is not None else 1)


def worth_starting(course: Course, *, is_worker: bool) -> int:
    """How many rounds start together, so that they import side by side: one for two cores, or two, and no more than
    nearly all decisions need."""
    if is_worker or cores() < 2:  # other workers measure meanwhile, or there is nowhere to import
        return 1
    wanted = min(max(cores() // 2, 2), HALFWAY)
    return max(min(wanted, course.count - course.done), 1)


def _with_tests(starts: Sequence[rounds.Start], tests: Container[str], *, among: bool) -> Iterator[rounds.Start]:
    """These rounds with those of their tests that are `among` the given ones, or are not; none without any."""
    for start in starts:
        if chosen := [test for test in start.tests if (test in tests) is among]:
            yield replace(start, tests=chosen)


def _failed(test: str, failure: str | None, *, in_pairs: bool = False) -> RoundError:
    mend = (
        "Give it a port or a file of its own each time, or let go of it before the check."
        if in_pairs
        else "Without fresh processes: --opcost-confirm=0 judges by one measurement, --opcost-rounds=0 records one."
    )
    return RoundError(
        f"{test} could not be measured in a fresh process, where a cost is confirmed and recorded.\n"
        f"Found: {failure or 'no such check there'}\n"
        "Expected: a test that passes by itself, and calls the same checks each time. This run is in the midst of it "
        "meanwhile: what it holds, such as a port or a lock, the fresh process cannot have.\n"
        f"{mend}"
    )
