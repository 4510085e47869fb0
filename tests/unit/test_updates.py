"""What is told of a baseline that is replaced."""

from __future__ import annotations

from records import baseline, op, profile

from pytest_opcost.updates import what_changed

WRAPPER = "autograd::engine::evaluate_function: CloneBackward0"


def told(before, after):
    return what_changed(baseline(profile(*before)), baseline(profile(*after)))


def test_calls_are_told_and_not_what_noise_does():
    before = [op("aten::mm", 900.0, calls=2), op("aten::clone", 10.0, calls=2), op("aten::add", 90.0)]
    after = [
        *(op("aten::mm", 900.0, calls=2), op("aten::clone", 20.0, calls=4), op("aten::add", 97.0)),
        *(op("CloneBackward0", 1.0), op(WRAPPER, 1.0)),
    ]
    assert told(before, after) == ("step total +1.9 %", "new: CloneBackward0", "aten::clone 2 -> 4 calls")


def test_operators_that_went_and_the_largest_moves():
    before = [op("aten::mm", 500.0), op("aten::add", 400.0), op("aten::cheap", 10.0), op("aten::gone", 90.0)]
    after = [op("aten::mm", 500.0), op("aten::add", 500.0), op("aten::cheap", 30.0)]
    assert told(before, after) == ("step total +3.0 %", "gone: aten::gone", "aten::add +25 %")


def test_no_more_than_three_changes_of_calls():
    names = [f"aten::x{number}" for number in range(5)]
    changed = told([op(name, 100.0) for name in names], [op(name, 100.0, calls=2) for name in names])
    assert changed[-1] == "and 2 more"
    assert len(changed) == 5
