"""Which event lies in which, by intervals on one thread."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("numpy")
pytest.importorskip("torch")  # the package that this is in imports torch

from traces import columns, event, memory, runtime

from pytest_opcost.measure.events import OPERATORS, Kind
from pytest_opcost.measure.nesting import by_thread, operators_around, parents

ALL = {*Kind} - {Kind.DEVICE, Kind.LEFT_OUT}


def nested(find, *events, kinds=ALL):
    """For each event the name of what it lies in, or None."""
    table = columns(*events)
    rows = by_thread(table, kinds)
    names = [table.names[table.name[row]] for row in rows]
    return {name: None if place < 0 else names[place] for name, place in zip(names, find(table, rows))}


def test_rows_are_sorted_by_thread_start_and_falling_end_whatever_their_order():
    events = [event(name, *rest) for name, *rest in (("a", 0, 9), ("b", 0, 5), ("c", 3, 4), ("d", 10, 11))]
    events += [event("e", 0, 100, thread=2)]
    for seed in range(5):
        random.Random(seed).shuffle(events)
        table = columns(*events)
        assert [table.names[table.name[row]] for row in by_thread(table, ALL)] == list("abcde")


def test_only_the_kinds_asked_for_are_there():
    events = [event("a", 0, 9), event("b", 1, 2, Kind.BACKWARD), event("c", 3, 4, Kind.DEVICE), runtime("d", 5, 6)]
    assert nested(parents, *events, kinds=OPERATORS) == {"a": None, "b": "a"}


def test_an_event_lies_in_the_innermost_that_is_still_open():
    events = [event("a", 0, 100), event("b", 10, 50), event("c", 20, 30), event("d", 40, 45), event("e", 60, 70)]
    assert nested(parents, *events, event("f", 200, 210)) == {
        "a": None,
        "b": "a",
        "c": "b",
        "d": "b",
        "e": "a",
        "f": None,
    }


def test_touching_events_are_neighbours_and_equal_ones_nest():
    assert nested(parents, event("a", 0, 10), event("b", 10, 20)) == {"a": None, "b": None}
    assert nested(parents, event("a", 0, 10), event("b", 0, 10)) == {"a": None, "b": "a"}


def test_a_moment_lies_in_what_it_begins_with_and_not_in_what_it_ends():
    assert nested(parents, event("a", 0, 10), memory(0)) == {"a": None, "[memory]": "a"}
    assert nested(parents, event("a", 0, 10), memory(9)) == {"a": None, "[memory]": "a"}
    assert nested(parents, event("a", 0, 10), memory(10)) == {"a": None, "[memory]": None}


def test_a_moment_holds_nothing():
    assert nested(parents, event("a", 0, 10), memory(5), event("b", 5, 6)) == {"a": None, "[memory]": "b", "b": "a"}


def test_an_event_that_outlasts_another_began_in_it():
    assert nested(parents, event("a", 0, 10), event("b", 5, 15), event("c", 12, 13)) == {"a": None, "b": "a", "c": "b"}


def test_threads_nest_by_themselves():
    events = [event("a", 0, 100), event("b", 10, 50, thread=2), event("c", 20, 30, thread=2), event("d", 5, 6)]
    assert nested(parents, *events) == {"a": None, "b": None, "c": "b", "d": "a"}


def test_no_events_are_in_nothing():
    assert nested(parents) == {}
    assert nested(operators_around) == {}


def test_around_an_event_are_operators_alone_however_deep():
    events = [
        event("outer", 0, 100), event("note", 1, 99, Kind.ANNOTATION), event("note 2", 2, 98, Kind.ANNOTATION),
        event("inner", 3, 97, Kind.BACKWARD), runtime("launch", 4, 90), runtime("in launch", 5, 80), memory(6),
        event("alone", 200, 300, Kind.ANNOTATION), runtime("outside", 210, 220),
    ]  # fmt: skip
    assert nested(operators_around, *events) == {
        "outer": None,
        "note": "outer",
        "note 2": "outer",
        "inner": "outer",
        "launch": "inner",
        "in launch": "inner",
        "[memory]": "inner",
        "alone": None,
        "outside": None,
    }
