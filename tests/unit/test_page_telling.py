"""Findings on the page: put together by cause, the many alike folded."""

from __future__ import annotations

import pytest

pytest.importorskip("jinja2")

from records import finding, op, profile, result

from pytest_opcost.judge import Cause, Kind, Outcome
from pytest_opcost.report.page.telling import told


def drifted(findings, causes=()):
    return result(profile(op("aten::mm", 1.0)), Outcome.DRIFTED, *findings, causes=tuple(causes))


def found(*names):
    return [finding(Kind.DEARER, name, 0.1) for name in names]


def groups(*given, **more):
    return [
        (group.cause and group.cause.kind, [one.op for one in group.shown], [one.op for one in group.folded])
        for group in told(drifted(*given, **more))
    ]


def test_a_finding_stands_with_the_first_cause_that_explains_it():
    causes = [Cause("float64", "", "b", explains=("b", "a")), Cause("copy_added", "", "c", explains=("c", "a"))]
    assert groups(found("a", "b", "c", "d"), causes) == [
        ("float64", ["b", "a"], []),
        ("copy_added", ["c"], []),
        (None, ["d"], []),
    ]


def test_many_of_one_cause_are_folded_and_where_it_starts_is_shown():
    cause = Cause("float64", "", "e", explains=("a", "b", "c", "d", "e"))
    assert groups(found("a", "b", "c", "d", "e"), [cause]) == [("float64", ["e", "a", "b"], ["c", "d"])]


def test_a_single_one_is_not_folded():
    cause = Cause("float64", "", "a", explains=("a", "b", "c", "d"))
    assert groups(found("a", "b", "c", "d"), [cause]) == [("float64", ["a", "b", "c", "d"], [])]


def test_what_has_no_cause_is_told_at_length():
    names = [f"op{number}" for number in range(20)]
    assert groups(found(*names)) == [(None, names[:12], names[12:])]


def test_a_cause_is_told_even_where_others_explain_all_of_it():
    causes = [Cause("float64", "", "a", explains=("a",)), Cause("copy_added", "", "a", explains=("a",))]
    assert groups(found("a"), causes) == [("float64", ["a"], []), ("copy_added", [], [])]
    assert groups([]) == []
