"""What the process of a round sent home, and how it ended -> what the round found."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_opcost.errors import RoundError
from pytest_opcost.merging import averaged
from pytest_opcost.results import CheckResult
from pytest_opcost.rounds.wording import end_of_output, ending_of

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from pathlib import Path

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.rounds.process import Ended
    from pytest_opcost.rounds.side import Side

_RAN = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


@dataclass(frozen=True, slots=True)
class Round:
    """What one process found: profiles by test and name of the check, and, by test, the end of what went wrong.

    Every test that was asked for has a profile, a failure, or both: its check may have measured before it failed. Those
    that `ran` have begun at least. Of a process in another tree, `foreign` are modules that it has from this one,
    `copies` such that are installed.
    """

    side: str
    profiles: Mapping[tuple[str, str | None], CostProfile]
    failures: Mapping[str, str]
    ran: frozenset[str] = frozenset()
    foreign: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()

    def without(self, tests: Container[str]) -> Round:
        """The same without what it found of these tests."""
        profiles = {(test, check): one for (test, check), one in self.profiles.items() if test not in tests}
        failures = {test: why for test, why in self.failures.items() if test not in tests}
        return replace(self, profiles=profiles, failures=failures)


def found_in(path: Path, side: Side, tests: Sequence[str], ended: Ended) -> Round:
    """The round whose process wrote this file. Raises RoundError where it came to an end before its first test."""
    measured: defaultdict[tuple[str, str | None], list[CostProfile]] = defaultdict(list)
    failures: defaultdict[str, list[str]] = defaultdict(list)
    running: dict[str, None] = {}
    ran: set[str] = set()
    reached: set[str] = set()
    status: int | None = None
    foreign: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    for line in _lines(path):
        match line["kind"]:
            case "started":
                running[line["test"]] = None
                ran.add(line["test"])
                reached.add(line["test"])
            case "measured":
                for result in map(CheckResult.from_data, line["results"]):
                    measured[result.subject.test, result.subject.check].append(result.profile)
            case "failed":
                failures[line["test"]].append(line["text"])
                reached.add(line["test"])
            case "finished":
                running.pop(line["test"], None)
            case "code":
                foreign, copies = tuple(line["foreign"]), tuple(line["copies"])
            case "end":
                status = line["status"]
    if status not in _RAN and (running or not reached >= set(tests)):
        how = ending_of(ended.returncode, ended.timeout, status)
        if not reached:
            raise RoundError(_impossible(side, how, ended, tests[0]))
        for test in running:
            failures[test].append(_taken_down(side, how, ended, test))
        for test in set(tests) - reached:
            failures[test].append(f"was not run: the process {how}{_at(running)}")
    for test in set(tests) - reached - failures.keys():
        failures[test].append("was not run: a plugin or a conftest there stopped the tests before it")
    for test in set(tests) - {test for test, _ in measured} - failures.keys():
        failures[test].append("ended without a call of opcost.check")
    profiles = {subject: averaged(repetitions) for subject, repetitions in measured.items()}
    told = {test: "\n".join(failures[test]) for test in tests if test in failures}
    return Round(side.name, profiles, told, frozenset(ran), foreign, copies)


def _lines(path: Path) -> list[dict[str, Any]]:
    """What came home, line by line; a last one that was cut off is left out."""
    text = path.read_text(encoding="ascii") if path.exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1]]


def _at(running: Mapping[str, None]) -> str:
    return f", at {', '.join(running)}" if running else ""


def _impossible(side: Side, how: str, ended: Ended, test: str) -> str:
    return (
        f"no round on {side.name}: pytest, run by {side.python} in {side.directory}, {how}\n"
        f"{end_of_output(ended.output)}\n"
        "Expected: what runs in this process runs in a fresh one too.\n"
        f"Try it by hand: {side.command(test)}"
    )


def _taken_down(side: Side, how: str, ended: Ended, test: str) -> str:
    return f"the process {how}, in this test\n{end_of_output(ended.output)}\nTry it by hand: {side.command(test)}"
