from __future__ import annotations

import pytest

from pytest_opcost.errors import BaselineError
from pytest_opcost.fields import Fields


def fields(**values):
    return Fields(values, "a.yaml", "Mend it.")


def refused(read, *args, **more):
    with pytest.raises(BaselineError) as caught:
        read(*args, **more)
    return str(caught.value)


def test_an_error_names_file_field_what_was_found_what_was_expected_and_the_mend():
    inner = fields(step={"time": "fast"}).mapping("step")
    assert refused(inner.number, "time") == (
        "a.yaml: step.time: found text ('fast').\nExpected: a finite number, 0 or more.\nMend it."
    )


@pytest.mark.parametrize("read", ["take", "text", "number", "count", "numbers", "mapping"])
def test_a_missing_field(read):
    assert refused(getattr(fields(), read), "x").startswith("a.yaml: x: found nothing.\nExpected: a value: the field")


@pytest.mark.parametrize(("value", "text"), [("a", "a"), (2.11, "2.11"), (3, "3")])
def test_text(value, text):
    assert fields(x=value).text("x") == text


@pytest.mark.parametrize("value", [None, "", True, [], {}, ["a"]])
def test_no_text(value):
    assert refused(fields(x=value).text, "x").splitlines()[1] == "Expected: text."


@pytest.mark.parametrize("value", [None, "1", True, [], {}, -1, -0.5, float("nan"), float("inf"), float("-inf")])
def test_no_number(value):
    for read in (fields(x=value).number, fields(x=value).count):
        assert refused(read, "x").splitlines()[1] == "Expected: a finite number, 0 or more."
    assert refused(fields(x=[1, value]).numbers, "x").startswith("a.yaml: x[1]: found ")


def test_a_whole_number_that_no_float_can_hold_is_no_number():
    assert refused(fields(x=10**400).number, "x").splitlines()[1] == "Expected: a finite number, 0 or more."


def test_numbers():
    assert (fields(x=0).number("x"), fields(x=1.5).number("x"), fields(x=3.0).count("x")) == (0.0, 1.5, 3)
    assert fields(x=[1, 2.5, 0]).numbers("x") == (1.0, 2.5, 0.0)
    assert fields(x=0.5).number("x", positive=True) == 0.5


def test_zero_is_not_positive():
    expected = "Expected: a finite number, more than 0."
    assert refused(fields(x=0).number, "x", positive=True).splitlines()[1] == expected


def test_half_a_call_is_no_count():
    assert refused(fields(x=1.5).count, "x").startswith("a.yaml: x: found 1.5.\nExpected: a whole number.")


@pytest.mark.parametrize("value", ["1,2", {}, 1, None])
def test_no_list_of_numbers(value):
    assert refused(fields(x=value).numbers, "x").splitlines()[1] == "Expected: a list of numbers."


@pytest.mark.parametrize(
    ("value", "found"), [([1], "a list"), ("x", "text ('x')"), (None, "nothing"), (3, "3"), (True, "a yes/no (True)")]
)
def test_no_mapping(value, found):
    expected = "Expected: a mapping of names to values."
    assert refused(Fields, value, "a.yaml", "Mend it.").splitlines()[:2] == [
        f"a.yaml: the document: found {found}.",
        expected,
    ]
    assert refused(fields(x=value).mapping, "x").splitlines()[:2] == [f"a.yaml: x: found {found}.", expected]


def test_texts_are_sorted_by_name():
    assert fields(b="2", a=1).texts() == (("a", "1"), ("b", "2"))
    assert refused(fields(a=None).texts).startswith("a.yaml: a: ")


def test_rows_know_their_place():
    rows = list(fields(ops=[{"op": "a"}, {"op": "b"}]).rows("ops", named_by="op"))
    assert [row.text("op") for row in rows] == ["a", "b"]
    assert refused(rows[1].text, "family").startswith("a.yaml: ops[1].family: found nothing")


@pytest.mark.parametrize("value", [[], {}, "a", None])
def test_no_rows(value):
    assert "Expected: a list of one row or more." in refused(lambda: list(fields(ops=value).rows("ops", named_by="op")))


def test_two_rows_of_one_name():
    document = fields(ops=[{"op": "a"}, {"op": "b"}, {"op": "a"}])
    assert refused(lambda: list(document.rows("ops", named_by="op"))).startswith(
        "a.yaml: ops[2].op: found a, a second time.\nExpected: every operator once."
    )


def test_contains_and_names():
    document = fields(a=None, b=1)
    assert "a" in document
    assert "c" not in document
    assert document.names() == ["a", "b"]
