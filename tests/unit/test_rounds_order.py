"""Which round comes when."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_opcost.rounds import Side, in_turns
from pytest_opcost.rounds.order import turned

HEAD, BASE = (Side(name, Path("python"), Path("/project"), Path("/project")) for name in ("head", "base"))


def told(turns):
    """Where each round runs, and its tests as one word."""
    return [(side.name, "".join(tests)) for side, tests in turns]


def test_two_sides_alternate_in_pairs_that_run_their_tests_in_the_same_order():
    found = told(in_turns([HEAD, BASE], ["a", "b", "c"], 4))

    assert [side for side, _ in found] == ["head", "base", "base", "head", "head", "base", "base", "head"]
    assert [tests for _, tests in found] == ["abc", "abc", "cba", "cba", "acb", "acb", "bca", "bca"]


def test_further_pairs_go_on_where_the_others_ended():
    """So that neither side is first more often than the other one."""
    tests = ["a", "b", "c"]
    by_and_by = [*in_turns([HEAD, BASE], tests, 5), *in_turns([HEAD, BASE], tests, 1, 5)]

    assert told(by_and_by) == told(in_turns([HEAD, BASE], tests, 6))
    assert [side.name for side, _ in by_and_by[::2]].count("head") == 3


def test_one_side_runs_as_often_as_asked():
    assert told(in_turns([HEAD], ["a"], 3)) == [("head", "a")] * 3


def test_a_test_that_is_taken_off_the_list_runs_no_more_from_the_next_pair_on():
    tests = ["a", "b", "c"]
    turns = in_turns([HEAD, BASE], tests, 3)

    found = told([next(turns)])
    tests.remove("b")
    found += told(turns)

    assert found == [("head", "abc"), ("base", "abc"), ("base", "ca"), ("head", "ca"), ("head", "ac"), ("base", "ac")]


def test_the_rounds_end_when_no_test_is_left():
    tests = ["a"]
    turns = in_turns([HEAD], tests, 3)

    next(turns)
    tests.clear()

    assert list(turns) == []


@pytest.mark.parametrize("count", [3, 4, 7])
def test_no_test_always_follows_the_same_neighbour(count):
    tests = [chr(ord("a") + index) for index in range(count)]
    orders = [turned(tests, number) for number in range(2 * count)]

    assert all(sorted(order) == tests for order in orders)
    assert {order[0] for order in orders} == set(tests)
    for test in tests:
        before = {order[order.index(test) - 1] for order in orders if order[0] != test}
        assert len(before) == 2
