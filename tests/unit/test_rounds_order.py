"""Which round comes when."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_opcost.rounds import Round, Side, rounds_of
from pytest_opcost.rounds.order import turned

HEAD, BASE = (Side(name, Path("python"), Path("/project"), Path("/project")) for name in ("head", "base"))


class Runs:
    """Runs nothing, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked = []

    def __call__(self, side, tests):
        self.asked.append((side.name, "".join(tests)))
        return Round(side.name, {}, {})


def test_two_sides_alternate_in_pairs_that_run_their_tests_in_the_same_order():
    run = Runs()

    found = list(rounds_of([HEAD, BASE], ["a", "b", "c"], 4, run))

    assert [one.side for one in found] == ["head", "base", "base", "head", "head", "base", "base", "head"]
    assert [tests for _, tests in run.asked] == ["abc", "abc", "cba", "cba", "acb", "acb", "bca", "bca"]


def test_one_side_runs_as_often_as_asked():
    run = Runs()

    list(rounds_of([HEAD], ["a"], 3, run))

    assert run.asked == [("head", "a")] * 3


def test_a_test_that_is_taken_off_the_list_runs_no_more_from_the_next_pair_on():
    run, tests = Runs(), ["a", "b", "c"]
    rounds = rounds_of([HEAD, BASE], tests, 3, run)

    next(rounds)
    tests.remove("b")
    list(rounds)

    assert run.asked == [
        ("head", "abc"),
        ("base", "abc"),
        ("base", "ca"),
        ("head", "ca"),
        ("head", "ac"),
        ("base", "ac"),
    ]


def test_the_rounds_end_when_no_test_is_left():
    run, tests = Runs(), ["a"]
    rounds = rounds_of([HEAD], tests, 3, run)

    next(rounds)
    tests.clear()

    assert list(rounds) == []
    assert len(run.asked) == 1


def test_nothing_runs_before_it_is_asked_for():
    run = Runs()
    rounds = rounds_of([HEAD], ["a"], 3, run)
    assert run.asked == []
    next(rounds)
    rounds.close()
    assert len(run.asked) == 1


@pytest.mark.parametrize("count", [3, 4, 7])
def test_no_test_always_follows_the_same_neighbour(count):
    tests = [chr(ord("a") + index) for index in range(count)]
    orders = [turned(tests, number) for number in range(2 * count)]

    assert all(sorted(order) == tests for order in orders)
    assert {order[0] for order in orders} == set(tests)
    for test in tests:
        before = {order[order.index(test) - 1] for order in orders if order[0] != test}
        assert len(before) == 2
