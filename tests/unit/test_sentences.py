"""Sentences on a test's configurations: each holds for its figures, and another comes for others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import CUDA, op, profile, result

from pytest_opcost.report.grouping import groups
from pytest_opcost.report.sentences import course_of_ratio, dominance, sentences, smallest_batch


def member(batch, *, device="cpu", wall_us=1000.0, ratios=None, **costs):
    """A configuration whose operators cost so many microseconds; on a device that is its own time."""
    on_device = device != "cpu"
    ops = [
        op(f"aten::{name}", 10.0 if on_device else us, device_us=us if on_device else 0.0, calls=3)
        for name, us in costs.items()
    ]
    made = profile(*ops, wall_us=wall_us)
    value = made.ratio("conv/addmm")
    own = {} if value is None else {"conv/addmm": value}
    test = f"tests/test_a.py::test_step[{device}-{batch}]"
    return result(made, test=test, device=device, batch_size=batch, ratios=own if ratios is None else ratios)


def test_one_operator_dominates_at_every_batch_size():
    members = [member(1, conv2d=50.0, addmm=50.0 - 1), member(64, conv2d=80.0, addmm=20.0)]
    assert dominance(members) == (
        "aten::conv2d is the dearest operator in every configuration: of the operators' time it takes 51 % at "
        "batch 1 and 80 % at batch 64."
    )


def test_the_dearest_operator_depends_on_the_batch_size():
    members = [
        member(1, conv2d=30.0, addmm=70.0),
        member(16, conv2d=60.0, addmm=40.0),
        member(64, conv2d=80.0, addmm=20.0),
    ]
    assert dominance(members) == (
        "by operators' time the dearest operator depends on the batch size: aten::addmm with 70 % at batch 1 and "
        "aten::conv2d with 60 % at batch 16 and 80 % at batch 64."
    )


def test_no_operator_dominates():
    even = {f"op{index}": 10.0 for index in range(9)}
    assert dominance([member(1, conv2d=11.0, **even)]).startswith(
        "no operator dominates: the dearest, aten::conv2d, takes 11 %"
    )
    assert dominance([member(1, conv2d=11.0, **even), member(2, conv2d=12.0, **even)]).startswith(
        "no operator dominates: "
    )
    assert dominance([member(1, conv2d=90.0, mm=10.0)]) == (
        "aten::conv2d is the dearest operator with 90 % of the operators' time, 9.0 times the next, aten::mm."
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((2.0, 4.0, 8.0), "conv/addmm rises with batch size, 2.00 at batch 1, 4.00 at batch 16 and 8.00 at batch 64: "
         "conv costs 4.0 times as much at batch 64 as at batch 1, addmm 1.0 times."),
        ((8.0, 4.0, 2.0), "conv/addmm falls with batch size, 8.00 at batch 1, 4.00 at batch 16 and 2.00 at batch 64: "
         "conv costs 0.25 times as much at batch 64 as at batch 1, addmm 1.0 times."),
        ((2.0, 0.8, 0.5), "conv/addmm falls with batch size, 2.00 at batch 1, 0.800 at batch 16 and 0.500 at batch "
         "64: conv costs 0.25 times as much at batch 64 as at batch 1, addmm 1.0 times; from batch 16 on addmm is the "
         "dearer side."),
        ((2.0, 2.04, 2.02), "conv/addmm hardly depends on batch size: 2.00 to 2.04 between batch 1 and 64."),
        ((2.0, 4.0, 3.0), "conv/addmm does not move one way as batches grow: 2.00 at batch 1, 4.00 at batch 16 and "
         "3.00 at batch 64."),
    ],
)  # fmt: skip
def test_the_course_of_the_ratio(values, words):
    members = [member(batch, conv2d=100.0 * value, addmm=100.0) for batch, value in zip((1, 16, 64), values)]
    assert course_of_ratio(members) == words


def test_no_course_without_two_batch_sizes_or_a_ratio():
    assert course_of_ratio([member(1, conv2d=2.0, addmm=1.0)]) == ""
    assert course_of_ratio([member(1, conv2d=2.0), member(2, conv2d=3.0)]) == ""
    plain = member(1, conv2d=2.0, addmm=1.0)
    assert course_of_ratio([replace(plain, subject=replace(plain.subject, batch_size=None))] * 2) == ""


def test_where_the_time_goes_at_the_smallest_batch():
    small, large = member(1, wall_us=1000.0, conv2d=70.0, add=20.0, mm=10.0), member(64, wall_us=6400.0, conv2d=10.0)
    assert smallest_batch([small, large]) == (
        "at batch 1 the operators' time goes to conv (70 %); operators fill 10 % of the step's 1.00 ms, the rest is in "
        "none. A sample takes 10 times as long there as at batch 64: 1.00 ms against 100 µs."
    )
    spread = member(1, wall_us=100.0, conv2d=30.0, add=30.0, mm=20.0, embedding=20.0)
    told = smallest_batch([spread, member(2, wall_us=200.0, conv2d=1.0)])
    assert told.startswith("at batch 1 the operators' time goes to elementwise (30 %) and conv (30 %). ")
    assert "A sample takes just as long there as at batch 2" in told
    assert "operators' time goes to elementwise (95 %); operators fill 10 %" in smallest_batch(
        [member(4, conv2d=5.0, add=95.0)]
    )


@pytest.mark.parametrize(("wall_us", "idle"), [(1000.0, True), (110.0, False)])
def test_an_idle_device_waits_for_the_host(wall_us, idle):
    told = smallest_batch([member(1, device="cuda", wall_us=wall_us, conv2d=60.0, addmm=40.0)])
    assert (
        "the device is busy for 10 % of the step's 1.00 ms, for the rest it waits for the host and its 6" in told
    ) is idle
    assert ("the device is busy for 91 % of the step's 110 µs." in told) is not idle
    assert told.startswith("at batch 1 the kernel time goes to conv (60 %)")


def test_operator_calls_are_those_of_the_step():
    ops = [op(name, 1.0, device_us=1.0, calls=3) for name in ("aten::mm", "cudaLaunchKernel", "MmBackward0")]
    idle = result(profile(*ops, wall_us=1000.0), device="cuda", batch_size=1)
    idle = replace(idle, profile=replace(idle.profile, environment=CUDA))
    assert "waits for the host and its 3 operator calls" in smallest_batch([idle])


def test_devices_are_told_apart_and_compared():
    costs = {"conv2d": 60.0, "addmm": 40.0}
    members = [
        member(1, wall_us=200.0, **costs), member(64, wall_us=9000.0, **costs),
        member(1, device="cuda", wall_us=400.0, **costs), member(64, device="cuda", wall_us=450.0, **costs),
    ]  # fmt: skip
    (group,) = groups(members)
    told = sentences(group)
    assert told[0].startswith("On cpu, aten::conv2d is the dearest")
    assert told[3].startswith("On cuda, aten::conv2d is the dearest")
    assert told[-1] == "A step on cuda is 2.0 times slower at batch 1 and 20 times faster at batch 64 than on cpu."


def test_a_sentence_begins_with_a_capital_unless_with_a_name():
    (group,) = groups([member(1, conv2d=30.0, addmm=70.0), member(16, conv2d=60.0, addmm=40.0)])
    assert [sentence[:3] for sentence in sentences(group)] == ["By ", "con", "At "]


def test_nothing_to_tell_of_a_step_that_costs_nothing():
    (group,) = groups([result(profile(op("aten::add", 0.0), wall_us=0.0), ratios={})])
    assert sentences(group) == ()
