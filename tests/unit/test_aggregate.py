"""Self times by interval nesting, on events made by hand; times are nanoseconds."""

from __future__ import annotations

import random

import pytest

from pytest_opcost.measure.aggregate import aggregate
from pytest_opcost.measure.events import STEP_MARK, Event, Kind

DISTANT = 10_000


def event(name, start, end, kind=Kind.OPERATOR, thread=1, correlation=0, link=0):
    return Event(name, kind, start, end, thread, correlation, link)


def mark(start=0, end=1000, thread=1):
    return event(STEP_MARK, start, end, Kind.ANNOTATION, thread)


def kernel(start, end, link):
    return event("a_kernel", start, end, Kind.DEVICE, thread=7, link=link)


def one_step(*events):
    """The table of the only step, which lasts from 0 to 1,000, and the whole."""
    result = aggregate([mark(), *events])
    (step,) = result.steps
    return step.ops, result


def self_times(*events):
    ops, _ = one_step(*events)
    return {name: cost.host_ns for name, cost in ops.items()}


def test_an_operator_s_self_time_is_its_duration_less_its_children_s():
    times = self_times(
        event("conv2d", 0, 100), event("convolution", 10, 90), event("mkldnn", 20, 80), event("empty", 81, 85)
    )
    assert times == {"conv2d": 20, "convolution": 16, "mkldnn": 60, "empty": 4}
    assert sum(times.values()) == 100


def test_calls_and_times_of_equal_names_add_up():
    ops, _ = one_step(event("mm", 0, 10), event("mm", 10, 25), event("mm", 30, 31))
    assert (ops["mm"].calls, ops["mm"].host_ns) == (3, 26)


def test_an_operator_that_calls_itself():
    ops, _ = one_step(event("mm", 0, 100), event("mm", 10, 60))
    assert (ops["mm"].calls, ops["mm"].host_ns) == (2, 100)


def test_touching_events_are_neighbours_and_equal_ones_nest():
    assert self_times(event("a", 0, 10), event("b", 10, 20)) == {"a": 10, "b": 10}
    assert self_times(event("a", 0, 10), event("b", 0, 10)) == {"a": 0, "b": 10}
    assert self_times(event("a", 0, 10), event("b", 0, 4), event("c", 6, 10)) == {"a": 2, "b": 4, "c": 4}


def test_the_order_of_events_does_not_matter():
    events = [event("a", 0, 100), event("b", 10, 50), event("c", 20, 30), event("d", 60, 70)]
    for seed in range(5):
        random.Random(seed).shuffle(events)
        assert self_times(*events) == {"a": 50, "b": 30, "c": 10, "d": 10}


def test_threads_nest_by_themselves():
    times = self_times(event("a", 0, 100), event("b", 10, 50, thread=2), event("c", 20, 30, thread=2))
    assert times == {"a": 100, "b": 30, "c": 10}


def test_an_event_that_overlaps_another_in_part_is_nobody_s_child():
    assert self_times(event("a", 0, 100), event("b", 50, 150)) == {"a": 100, "b": 100}
    assert self_times(event("a", 0, 100), event("b", 50, 150), event("c", 110, 120)) == {"a": 100, "b": 90, "c": 10}


def test_a_negative_self_time_is_none_and_counted():
    ops, result = one_step(event("a", 0, 10), event("b", 50, 40))
    assert ({name: cost.host_ns for name, cost in ops.items()}, result.negative_clamped) == ({"a": 10, "b": 0}, 1)
    assert one_step(event("a", 0, 10), event("b", 0, 10))[1].negative_clamped == 0


def test_steps_are_told_apart_and_what_lies_outside_of_them_is_left_out():
    events = [mark(1000, 2000), mark(0, 900), event("sync", 950, 990), event("late", 5000, 6000)]
    result = aggregate(
        [*events, event("a", 0, 10), event("b", 899, 950), event("c", 1000, 1001), event("a", 1999, 2100)]
    )
    assert [(step.start, step.end, sorted(step.ops)) for step in result.steps] == [
        (0, 900, ["a", "b"]),
        (1000, 2000, ["a", "c"]),
    ]


def test_events_before_the_first_step_and_at_the_very_end_of_one_are_outside():
    result = aggregate([mark(100, 200), event("early", 50, 60), event("after", 200, 210)])
    assert result.steps[0].ops == {}


def test_no_events_are_no_steps():
    assert aggregate([]).steps == []
    assert aggregate([event("a", 0, 1)]).steps == []


def test_a_mark_of_another_kind_is_no_step():
    assert aggregate([event(STEP_MARK, 0, 10, Kind.DEVICE), event(STEP_MARK, 0, 10)]).steps == []


@pytest.mark.parametrize("name", ["my block", "aten::addmm", "Optimizer.step#SGD.step"])
def test_an_annotation_is_no_operator_and_takes_no_time(name):
    assert self_times(event(name, 0, 100, Kind.ANNOTATION), event("mm", 10, 30)) == {"mm": 20}


def test_an_annotation_inside_an_operator_takes_no_time_from_it():
    times = self_times(event("outer", 0, 100), event("my block", 10, 90, Kind.ANNOTATION), event("mm", 20, 50))
    assert times == {"outer": 70, "mm": 30}


def test_everything_outside_of_backward_and_optimizer_is_forward():
    ops, _ = one_step(event("mm", 0, 10), event("my block", 20, 50, Kind.ANNOTATION), event("mm", 30, 40))
    assert (ops["mm"].host_ns, ops["mm"].forward_host_ns) == (20, 20)


def test_the_backward_phase_is_what_is_nested_in_its_nodes_on_any_thread():
    ops, _ = one_step(
        event("mm", 0, 10),
        event("AddmmBackward0", 100, 200, Kind.BACKWARD, thread=2),
        event("mm", 110, 150, thread=2),
        event("add", 200, 210, thread=2),
    )
    assert (ops["mm"].host_ns, ops["mm"].forward_host_ns) == (50, 10)
    assert (ops["AddmmBackward0"].host_ns, ops["AddmmBackward0"].forward_host_ns) == (60, 0)
    assert ops["add"].forward_host_ns == 10


def test_the_optimizer_s_step_is_not_forward():
    ops, _ = one_step(
        event("Optimizer.step#SGD.step", 0, 100, Kind.ANNOTATION), event("outer", 10, 50), event("add_", 20, 30)
    )
    assert {name: (cost.host_ns, cost.forward_host_ns) for name, cost in ops.items()} == {
        "outer": (30, 0),
        "add_": (10, 0),
    }


def test_an_operator_that_is_called_like_the_optimizer_s_mark_leaves_no_phase():
    ops, _ = one_step(event("Optimizer.step#SGD.step", 0, 100), event("add_", 20, 30))
    assert ops["add_"].forward_host_ns == 10


def test_device_work_belongs_to_the_operator_that_launched_it_whenever_it_ran():
    ops, result = one_step(
        event("conv", 0, 100, correlation=3),
        event("mm", 200, 250, Kind.OPERATOR, correlation=4),
        kernel(20, 60, link=3),
        kernel(DISTANT, DISTANT + 30, link=3),
        kernel(DISTANT, DISTANT + 5, link=4),
    )
    assert {name: cost.device_ns for name, cost in ops.items()} == {"conv": 70, "mm": 5}
    assert (ops["conv"].host_ns, ops["conv"].calls) == (100, 1)
    assert result.unlinked_device == 0


def test_device_work_has_the_phase_of_its_launcher():
    ops, _ = one_step(
        event("mm", 0, 10, correlation=1),
        event("MmBackward0", 20, 90, Kind.BACKWARD, correlation=2),
        event("mm", 30, 40, correlation=3),
        *(kernel(DISTANT, DISTANT + 100 * link, link) for link in (1, 2, 3)),
    )
    assert (ops["mm"].device_ns, ops["mm"].forward_device_ns) == (400, 100)
    assert (ops["MmBackward0"].device_ns, ops["MmBackward0"].forward_device_ns) == (200, 0)


def test_device_work_of_two_steps_goes_to_its_own_step():
    result = aggregate(
        [
            *(mark(0, 100), mark(100, 200)),
            *(event("mm", 10, 20, correlation=1), event("mm", 110, 120, correlation=2)),
            *(kernel(150, 160, link=1), kernel(170, 190, link=2)),
        ]
    )
    assert [step.ops["mm"].device_ns for step in result.steps] == [10, 20]


def test_device_work_without_an_operator_in_a_step_is_counted():
    ops, result = one_step(
        event("mm", 0, 10, correlation=1), event("late", 2000, 2010, correlation=2), kernel(5, 9, 2), kernel(5, 9, 99)
    )
    assert (ops["mm"].device_ns, result.unlinked_device) == (0, 2)


def test_runtime_calls_are_rows_and_take_their_time_from_the_operator_but_launch_nothing_themselves():
    ops, result = one_step(
        event("mm", 0, 100, correlation=1),
        event("cudaLaunchKernel", 10, 40, Kind.RUNTIME, correlation=1, link=1),
        kernel(50, 90, link=1),
    )
    assert (ops["mm"].host_ns, ops["mm"].device_ns) == (70, 40)
    assert (ops["cudaLaunchKernel"].host_ns, ops["cudaLaunchKernel"].calls) == (30, 1)
    assert (ops["cudaLaunchKernel"].device_ns, result.unlinked_device) == (0, 0)
