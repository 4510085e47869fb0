"""Costs step by step -> one row an operator, on events made by hand; times are nanoseconds."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from traces import event, kernel, runtime, step

from pytest_opcost.facts import OpFacts
from pytest_opcost.measure.aggregate import aggregate
from pytest_opcost.measure.events import Events, Kind
from pytest_opcost.measure.rows import call_costs, cold_step, op_rows, step_wall_us


def calls(name, *durations, number=0, start=0):
    """One call after the other in one step."""
    events, at = [], 1000 * number + start
    for duration in durations:
        events.append(event(name, at, at + duration))
        at += duration
    return events


def costs_of(*steps, more=()):
    """Each step as the durations of one operator's calls."""
    events = [one for number, durations in enumerate(steps) for one in calls("mm", *durations, number=number)]
    return aggregate(Events.of([*(step(number) for number in range(len(steps))), *events, *more]))


def rows(costs, first=0, facts=None):
    return {row.name: row for row in op_rows(costs, slice(first, None), facts)}


def host_ns(*steps, first=0, more=()):
    return 1000 * rows(costs_of(*steps, more=more), first)["mm"].self_host_us


def test_each_call_counts_at_its_best_over_the_steps():
    """No step was spared as a whole: the first call's best is the second step's, the second call's the first's."""
    assert host_ns([30, 10], [20, 50], [40, 60]) == pytest.approx(20 + 10)


def test_calls_are_told_apart_by_their_order_in_the_step():
    assert host_ns([10, 100], [100, 10]) == pytest.approx(20)
    assert host_ns([10, 100], [12, 90]) == pytest.approx(100)


def test_the_order_is_that_of_time_and_not_of_the_events():
    late, early = calls("mm", 50, start=500), calls("mm", 10)
    events = [step(0), step(1), *late, *early, *calls("mm", 12, number=1), *calls("mm", 40, number=1, start=500)]
    row = rows(aggregate(Events.of(events)))["mm"]
    assert (row.calls, 1000 * row.self_host_us) == (2, pytest.approx(10 + 40))


def test_steps_before_the_measured_ones_are_not_in_it():
    assert host_ns([1], [1], [30], [20], first=2) == pytest.approx(20)
    assert host_ns([1, 1], [30], [20], first=1) == pytest.approx(20)
    assert rows(costs_of([1, 1], [30], [20]), 1)["mm"].calls == 1


def test_an_operator_that_is_called_now_more_now_less_often_has_the_median_over_steps():
    costs = costs_of([10], [10, 20], [10, 20, 5])
    row = rows(costs)["mm"]
    assert (row.calls, row.varying, 1000 * row.self_host_us) == (2, True, pytest.approx(30))
    assert rows(costs_of([10], [20]))["mm"].varying is False


def test_one_that_is_missing_in_a_step_varies_too():
    row = rows(costs_of([10], [], [30]))["mm"]
    assert (row.calls, row.varying, 1000 * row.self_host_us) == (1, True, pytest.approx(10))


def test_only_what_is_its_own_counts():
    child = [event("add", 1000 * number + 2, 1000 * number + 2 + us) for number, us in enumerate((30, 10))]
    assert host_ns([50], [40], more=child) == pytest.approx(50 - 30)


def test_less_than_nothing_is_no_best():
    """The clock's mistake: an event that ended before it began."""
    assert host_ns([50], [-10], [40]) == pytest.approx(40)
    assert host_ns([50, 20], [60, -5]) == pytest.approx(50 + 20)


def test_nothing_is_a_best_and_less_than_nothing_in_all_steps_costs_nothing():
    assert host_ns([50], [0], [40]) == 0
    row = rows(costs_of([-10], [-20]))["mm"]
    assert (row.calls, row.self_host_us) == (1, 0)


def test_device_time_is_the_mean_of_the_middle_half():
    steps = [[10]] * 8
    kernels, launches = [], []
    for number, took in enumerate((1, 2, 100, 110, 120, 130, 9000, 9900)):
        launches.append(event("launcher", 1000 * number + 500, 1000 * number + 510, correlation=number + 1))
        kernels.append(event("gemm", 90_000, 90_000 + took, Kind.DEVICE, thread=7, link=number + 1))
    row = rows(costs_of(*steps, more=[*launches, *kernels]))["launcher"]
    assert 1000 * row.self_device_us == pytest.approx(115)
    assert 1000 * row.self_host_us == pytest.approx(10)


def test_device_work_that_none_launched_has_no_host_time():
    found = rows(costs_of([10], [10], more=[kernel("gemm", 99, start=at) for at in (100, 1100)]))
    assert (found["gemm"].self_host_us, 1000 * found["gemm"].self_device_us) == (0, pytest.approx(10))


def test_runtime_calls_have_rows_of_their_own():
    found = rows(costs_of([50], more=[runtime("cudaLaunchKernel", 10, 30)]))
    assert 1000 * found["mm"].self_host_us == pytest.approx(30)
    assert 1000 * found["cudaLaunchKernel"].self_host_us == pytest.approx(20)


def test_what_only_runs_before_the_measured_steps_has_no_row():
    assert list(rows(costs_of([10], [10], more=[event("add", 500, 510)]), 1)) == ["mm"]


def test_facts_are_empty_or_not_known_at_all():
    costs, facts = costs_of([10]), OpFacts(flops=3)
    assert rows(costs)["mm"].facts is None
    assert rows(costs, facts={})["mm"].facts == OpFacts()
    assert rows(costs, facts={"mm": facts})["mm"].facts == facts


def test_the_forward_part():
    backward = event("Backward0", 400, 500, Kind.BACKWARD)
    events = [step(0), *calls("mm", 30), backward, *calls("mm", 10, start=410)]
    assert rows(aggregate(Events.of(events)))["mm"].forward == pytest.approx(0.75)
    assert rows(costs_of([10]))["mm"].forward == 1


def test_the_wall_time_is_a_low_quantile_of_the_measured_steps():
    assert step_wall_us(costs_of([1], [1], [1]), slice(1, None)) == pytest.approx(1.0)


def test_the_cold_step_is_the_first_and_names_its_dearest():
    cold = cold_step(costs_of([400, 100], [1], more=[event("add", 600, 700), event("mul", 800, 801)]))
    assert cold.wall_us == pytest.approx(1.0)
    assert cold.host_us == pytest.approx(0.601)
    assert [name for name, *_ in cold.ops] == ["mm", "add", "mul"]
    assert cold.ops[0][1] == pytest.approx(0.5)


def test_each_call_s_cost_is_its_best_over_the_steps():
    costs = costs_of([9, 9], [30, 10], [20, 50], [40, 60])
    assert call_costs(costs, slice(1, None), "host") == {"mm": [20, 10]}


def test_on_a_device_each_call_has_the_mean_of_what_it_launched():
    events = [
        one
        for number in range(3)
        for one in (
            step(number),
            event("mm", 1000 * number, 1000 * number + 10, correlation=10 * number + 1),
            event("mm", 1000 * number + 20, 1000 * number + 90, correlation=10 * number + 2),
            event("add", 1000 * number + 100, 1000 * number + 110, correlation=10 * number + 3),
            *[kernel("gemm", 10 * number + 2)] * (number + 1),
            kernel("gemm", 10 * number + 1),
        )
    ]
    costs = call_costs(aggregate(Events.of(events)), slice(1, None), "device")
    assert costs == {"mm": [10, 25], "add": [0]}


def test_calls_that_are_not_the_same_in_every_step_have_no_costs_of_their_own():
    assert call_costs(costs_of([1, 2], [3]), slice(0, None), "host") == {}
    more = calls("add", 7, number=0, start=500) + calls("add", 5, number=1, start=500)
    assert call_costs(costs_of([1, 2], [3], more=more), slice(0, None), "host") == {"add": [5]}


def test_inclusive_times_are_those_of_a_call_with_all_that_it_called():
    """linear calls t and addmm, which launches a kernel; linear itself launches another one."""

    def step_of(number, linear, addmm):
        at = 1000 * number
        launcher = event("addmm", at + 20, at + 20 + addmm, correlation=2 * number + 1)
        outer = event("linear", at, at + linear, correlation=2 * number + 2)
        kernels = [kernel("gemm", 2 * number + 1), kernel("copy", 2 * number + 2)]
        return [step(number), outer, event("t", at + 5, at + 10), launcher, *kernels]

    found = rows(aggregate(Events.of([*step_of(0, 100, 50), *step_of(1, 90, 70)])))

    linear, addmm = found["linear"], found["addmm"]
    assert (1000 * linear.inclusive_host_us, 1000 * linear.inclusive_device_us) == (
        pytest.approx(90),
        pytest.approx(20),
    )
    assert (1000 * addmm.inclusive_host_us, 1000 * addmm.inclusive_device_us) == (pytest.approx(50), pytest.approx(10))
    assert 1000 * linear.self_host_us == pytest.approx(90 - 5 - 70)
    assert 1000 * found["t"].inclusive_host_us == pytest.approx(5)


def test_what_begins_as_a_call_ends_and_what_runs_on_another_thread_is_not_in_it():
    events = [step(0), event("mm", 0, 50), event("add", 50, 80), event("add", 10, 20, thread=2)]
    found = rows(aggregate(Events.of(events)))
    assert 1000 * found["mm"].inclusive_host_us == pytest.approx(50)
    assert 1000 * found["add"].inclusive_host_us == pytest.approx(30 + 10)


def test_a_call_that_hands_on_to_its_own_kind_is_counted_once():
    events = [step(0), event("div_", 0, 50), event("div_", 10, 40, correlation=1), kernel("divide", 1)]
    row = rows(aggregate(Events.of(events)))["div_"]
    assert (row.calls, 1000 * row.self_host_us) == (2, pytest.approx(50))
    assert (1000 * row.inclusive_host_us, 1000 * row.inclusive_device_us) == (pytest.approx(50), pytest.approx(10))


def test_the_inclusive_time_of_one_that_is_called_now_and_then_is_its_median():
    inner = [event("add", 1000 * number + 2, 1000 * number + 4) for number in range(3)]
    row = rows(costs_of([10], [10, 20], [10, 20, 5], more=inner))["mm"]
    assert 1000 * row.inclusive_host_us == pytest.approx(30)


def test_device_work_that_none_launched_is_all_its_own():
    found = rows(costs_of([10], [10], more=[kernel("gemm", 99, start=at) for at in (100, 1100)]))
    assert 1000 * found["gemm"].inclusive_device_us == pytest.approx(10)
