"""Rounds in fresh processes for the checks of one run: of one test that is suspected, or of all tests together."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from pytest_opcost import rounds
from pytest_opcost.errors import RoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from pytest_opcost.base import Base
    from pytest_opcost.costs import CostProfile
    from pytest_opcost.options import Options

#: Seconds that one test may take in a round, its share of the process's start included.
PATIENCE = 300.0


@dataclass(frozen=True, slots=True)
class Pairs:
    """Rounds of one check on both sides, each in the order in which they were made."""

    head: list[CostProfile] = field(default_factory=list)
    base: list[CostProfile] = field(default_factory=list)

    def of(self, side: str) -> list[CostProfile]:
        """Those of the side with this name."""
        return self.head if side == "head" else self.base


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
    ) -> None:
        self._config, self._options, self._tests = config, options, tests
        self._together: dict[tuple[str, str | None], list[CostProfile]] | None = None
        self._failed: dict[str, str] = {}
        #: The other side, where there is one.
        self.base: Base | None = None
        self._paired: defaultdict[tuple[str, str | None], Pairs] | None = None
        self._failed_on_base: dict[str, str] = {}

    def one(self, test: str, check: str | None) -> CostProfile:
        """One more round of one check, times alone. Raises RoundError where the test fails there."""
        found = self._round(rounds.head_side(self._config), [test], exact=False)
        if (profile := found.profiles.get((test, check))) is None:
            raise _failed(test, found.failures.get(test))
        return profile

    def together(self, test: str, check: str | None, count: int) -> list[CostProfile]:
        """So many rounds of one check, times alone, made when first asked for, together with all tests of the run.

        Raises RoundError where the test fails in one of them.
        """
        if not count:
            return []
        if self._together is None or (test, check) not in self._together:
            self._together = self._all(test, count)
        if (failure := self._failed.get(test)) is not None or (test, check) not in self._together:
            raise _failed(test, failure)
        return self._together[test, check]

    def pairs(self, test: str, check: str | None, count: int) -> Pairs:
        """So many rounds of one check on both sides in turns, made when first asked for, for all tests of the run.

        Raises RoundError where the test fails on head's side, BaseError where the base imports head's code.
        """
        if self._paired is None:
            self._paired = defaultdict(Pairs)
            self._measure_pairs([*self._tests()] or [test], count)
        pairs = self._paired[test, check]
        if not pairs.head and pairs.base:
            raise _failed(test, self._failed.get(test))
        return pairs

    def more_pairs(self, test: str, check: str | None, count: int) -> Pairs:
        """As many pairs of one check again, beside those that there are."""
        self._measure_pairs([test], count)
        assert self._paired is not None
        return self._paired[test, check]

    def base_failure(self, test: str) -> str | None:
        """Why the base has no figures of a test, if it has none."""
        return self._failed_on_base.get(test)

    def _measure_pairs(self, tests: list[str], count: int) -> None:
        assert self._paired is not None
        assert self.base is not None
        sides = [rounds.head_side(self._config), self.base.side(rounds.head_side(self._config))]
        # What is exact is read once on each side: in the other rounds only times are taken.
        without = {side.name for side in sides if not any(pairs.of(side.name) for pairs in self._paired.values())}

        def run(side: rounds.Side, order: Sequence[str]) -> rounds.Round:
            found = self._round(side, order, exact=side.name in without)
            without.discard(side.name)
            return found

        for one in rounds.rounds_of(sides, tests, count, run):
            if one.side == "base":
                self.base.refuse(one)
                self._failed_on_base |= one.failures
                # Of what the base cannot run, head need not be measured.
                tests[:] = [test for test in tests if test not in one.failures]
            else:
                self._failed |= one.failures
            for key, profile in one.profiles.items():
                self._paired[key].of(one.side).append(profile)

    def _all(self, test: str, count: int) -> dict[tuple[str, str | None], list[CostProfile]]:
        tests = [*self._tests()]
        tests = tests if test in tests and self._together is None else [test]
        found: defaultdict[tuple[str, str | None], list[CostProfile]] = defaultdict(list)
        sides = [rounds.head_side(self._config)]
        for one in rounds.rounds_of(sides, tests, count, partial(self._round, exact=False)):
            for key, profile in one.profiles.items():
                found[key].append(profile)
            self._failed |= one.failures
        return {**(self._together or {}), **found}

    def _round(self, side: rounds.Side, tests: Sequence[str], *, exact: bool) -> rounds.Round:
        return rounds.run_round(side, tests, self._options(), exact=exact, timeout=PATIENCE * len(tests))


def _failed(test: str, failure: str | None) -> RoundError:
    return RoundError(
        f"{test} could not be measured in a fresh process, where a cost is confirmed and recorded.\n"
        f"Found: {failure or 'no such check there'}\n"
        "Expected: a test that passes by itself, and calls the same checks each time.\n"
        "Without fresh processes: --opcost-confirm=0 judges by one measurement, --opcost-rounds=0 records one."
    )
