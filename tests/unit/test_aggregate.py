"""Self times by interval nesting, on events made by hand; times are nanoseconds."""

from __future__ import annotations

import random
from collections import Counter
from typing import NamedTuple

import pytest

pytest.importorskip("numpy")

from pytest_opcost.measure.aggregate import aggregate  # only where there is a numpy
from pytest_opcost.measure.events import STEP_MARK, Event, Events, Kind

DISTANT = 10_000


class Cost(NamedTuple):
    """One cell of every table."""

    calls: int
    host_ns: int
    device_ns: int
    forward_host_ns: int
    forward_device_ns: int


def event(name, start, end, kind=Kind.OPERATOR, thread=1, correlation=0, link=0):
    return Event(name, kind, start, end, thread, correlation, link)


def mark(start=0, end=1000, thread=1):
    return event(STEP_MARK, start, end, Kind.ANNOTATION, thread)


def kernel(start, end, link):
    return event("a_kernel", start, end, Kind.DEVICE, thread=7, link=link)


def steps_of(*events):
    """What ran in each step, by the operator's name, and the whole."""
    result = aggregate(Events.of(events))
    tables = [getattr(result, field) for field in Cost._fields]
    cells = [
        [Cost(*(table[step, i] for table in tables)) for i in range(len(result.names))]
        for step in range(len(result.start))
    ]
    return [{name: cost for name, cost in zip(result.names, step) if cost.calls} for step in cells], result


def one_step(*events):
    """The operators of the only step, which lasts from 0 to 1,000, and the whole."""
    (ops,), result = steps_of(mark(), *events)
    return ops, result


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


def test_an_event_that_outlasts_an_annotation_is_not_paid_for_around_it():
    times = self_times(event("a", 0, 100), event("my block", 10, 50, Kind.ANNOTATION), event("b", 40, 60))
    assert times == {"a": 100, "b": 20}


def test_an_overlap_on_one_thread_changes_nothing_on_another():
    times = self_times(
        *(event("a", 0, 100), event("b", 50, 150), event("c", 110, 120)),
        *(event("d", 0, 100, thread=2), event("e", 50, 90, thread=2)),
    )
    assert times == {"a": 100, "b": 90, "c": 10, "d": 60, "e": 40}


def test_an_event_without_duration_is_a_child_like_any_other():
    assert self_times(event("a", 0, 10), event("b", 5, 5), event("c", 5, 8)) == {"a": 7, "b": 0, "c": 3}


def test_a_negative_self_time_is_none_and_counted():
    ops, result = one_step(event("a", 0, 10), event("b", 50, 40))
    assert ({name: cost.host_ns for name, cost in ops.items()}, result.negative_clamped) == ({"a": 10, "b": 0}, 1)
    assert one_step(event("a", 0, 10), event("b", 0, 10))[1].negative_clamped == 0


def test_steps_are_told_apart_and_what_lies_outside_of_them_is_left_out():
    events = [mark(1000, 2000), mark(0, 900), event("sync", 950, 990), event("late", 5000, 6000)]
    steps, result = steps_of(
        *events, event("a", 0, 10), event("b", 899, 950), event("c", 1000, 1001), event("a", 1999, 2100)
    )
    assert list(zip(result.start, result.end)) == [(0, 900), (1000, 2000)]
    assert [sorted(ops) for ops in steps] == [["a", "b"], ["a", "c"]]
    assert sorted(result.names) == ["a", "b", "c"]


def test_events_before_the_first_step_and_at_the_very_end_of_one_are_outside():
    steps, result = steps_of(mark(100, 200), event("early", 50, 60), event("after", 200, 210))
    assert (steps, result.names, result.calls.shape) == ([{}], [], (1, 0))


@pytest.mark.parametrize(
    "events",
    [
        [],
        [event("a", 0, 1)],
        [kernel(0, 10, link=1)],
        [event(STEP_MARK, 0, 10, Kind.DEVICE), event(STEP_MARK, 0, 10)],  # marks of another kind
        [event("a", 0, 1, Kind.LEFT_OUT)],
    ],
)
def test_without_a_mark_there_are_no_steps(events):
    steps, result = steps_of(*events)
    assert (steps, result.names, result.calls.shape, result.host_ns.shape) == ([], [], (0, 0), (0, 0))


def test_an_event_that_is_left_out_takes_no_time_and_is_no_row():
    assert self_times(event("mm", 0, 100), event("## an async one ##", 10, 90, Kind.LEFT_OUT)) == {"mm": 100}


def test_the_profilers_overhead_is_taken_from_the_operator_and_given_to_nobody():
    assert self_times(event("mm", 0, 100), event("Buffer Flush", 10, 90, Kind.OVERHEAD)) == {"mm": 20}


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
    assert result.outside == 0


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
    steps, _ = steps_of(
        *(mark(0, 100), mark(100, 200)),
        *(event("mm", 10, 20, correlation=1), event("mm", 110, 120, correlation=2)),
        *(kernel(150, 160, link=1), kernel(170, 190, link=2)),
    )
    assert [ops["mm"].device_ns for ops in steps] == [10, 20]


def test_of_operators_with_one_id_the_last_has_launched_the_device_work():
    ops, result = one_step(
        event("conv", 0, 10, correlation=3), event("mm", 20, 30, correlation=3), kernel(DISTANT, DISTANT + 40, link=3)
    )
    assert ({name: cost.device_ns for name, cost in ops.items()}, result.outside) == ({"conv": 0, "mm": 40}, 0)


def test_device_work_of_operators_outside_of_every_step_is_left_out_and_counted():
    ops, result = one_step(
        event("mm", 0, 10, correlation=1), event("late", 2000, 2010, correlation=2), kernel(5, 9, link=2)
    )
    assert ({name: cost.device_ns for name, cost in ops.items()}, result.outside) == ({"mm": 0}, 1)


def test_device_work_that_no_operator_launched_is_a_row_of_its_own():
    ops, result = one_step(
        event("mm", 0, 10, correlation=1),
        *(kernel(5, 9, link=1), kernel(20, 30, link=99), kernel(40, 45, link=0), kernel(DISTANT, DISTANT + 1, link=99)),
    )
    assert (ops["mm"].device_ns, ops["a_kernel"]) == (4, Cost(2, 0, 15, 0, 15))
    assert (result.kernels, result.outside) == ({"a_kernel"}, 1)


def test_runtime_calls_are_rows_and_take_their_time_from_the_operator_but_launch_nothing_themselves():
    ops, result = one_step(
        event("mm", 0, 100, correlation=1),
        event("cudaLaunchKernel", 10, 40, Kind.RUNTIME, correlation=1, link=1),
        kernel(50, 90, link=1),
    )
    assert (ops["mm"].host_ns, ops["mm"].device_ns) == (70, 40)
    assert (ops["cudaLaunchKernel"].host_ns, ops["cudaLaunchKernel"].calls) == (30, 1)
    assert (ops["cudaLaunchKernel"].device_ns, result.outside) == (0, 0)


def reference(events):
    """The cells of the tables as a plain loop adds them up, with the two counts: every event looks for its parent."""
    marks = sorted((e.start, e.end) for e in events if e.name == STEP_MARK and e.kind is Kind.ANNOTATION)

    def step_at(time):
        return next((k for k, (start, end) in enumerate(marks) if start <= time < end), None)

    host = [e for e in events if e.kind not in (Kind.DEVICE, Kind.LEFT_OUT)]
    host.sort(key=lambda e: (e.thread, e.start, -e.end))
    around, self_ns, forward = [], [], []  # of each event: those it lies in, the nearest first
    for i, e in enumerate(host):
        candidates = (j for j in reversed(range(i)) if host[j].thread == e.thread and host[j].end > e.start)
        parent = next(candidates, None)
        around.append([] if parent is None else [parent, *around[parent]])
        self_ns.append(e.end - e.start)
        forward.append(not leaves_forward(e) and (parent is None or forward[parent]))
        payer = next((j for j in around[i] if host[j].kind is not Kind.ANNOTATION), None)
        if payer is not None and e.kind is not Kind.ANNOTATION and e.end <= host[parent].end:
            self_ns[payer] -= e.end - e.start
    cells, launchers, negative, outside = Counter(), {}, 0, 0
    for i, e in enumerate(host):
        step = step_at(e.start)
        if e.kind in (Kind.OPERATOR, Kind.BACKWARD):
            launchers[e.correlation] = (step, e.name, forward[i])
        if step is None or e.kind in (Kind.ANNOTATION, Kind.OVERHEAD):
            continue
        negative += self_ns[i] < 0
        cells[step, e.name, "calls"] += 1
        cells[step, e.name, "host_ns"] += max(self_ns[i], 0)
        cells[step, e.name, "forward_host_ns"] += max(self_ns[i], 0) * forward[i]
    for e in (e for e in events if e.kind is Kind.DEVICE):
        step, name, is_forward = launchers.get(e.link, (step_at(e.start), e.name, True))
        if step is None:
            outside += 1
            continue
        cells[step, name, "calls"] += e.link not in launchers
        cells[step, name, "device_ns"] += e.end - e.start
        cells[step, name, "forward_device_ns"] += (e.end - e.start) * is_forward
    return cells, negative, outside


def leaves_forward(e):
    is_optimizer = e.kind is Kind.ANNOTATION and e.name.startswith("Optimizer.step#")
    return is_optimizer or e.kind is Kind.BACKWARD


def random_events(seed, overlaps):
    """Some hundred events on three threads in four steps, nested up to eight deep, and where asked for ajar."""
    draw = random.Random(seed)
    events = [mark(start, start + 2_300) for start in range(0, 10_000, 2_500)]
    names = ["mm", "conv", "add", "Optimizer.step#SGD.step", "my block"]
    kinds = [Kind.OPERATOR] * 8 + [
        Kind.BACKWARD,
        Kind.ANNOTATION,
        Kind.ANNOTATION,
        Kind.RUNTIME,
        Kind.LEFT_OUT,
        Kind.OVERHEAD,
    ]

    def fill(start, end, thread, depth):
        while depth < 8 and end - start > 4 and draw.random() < 0.85:
            begins = draw.randint(start, end - 2)
            ends = draw.randint(begins + 1, min(end, begins + (end - start) // 2 + 1))
            late = draw.randint(-3, 60) if overlaps and draw.random() < 0.2 else 0
            events.append(
                event(
                    draw.choice(names),
                    begins,
                    ends + late,
                    draw.choice(kinds),
                    thread,
                    correlation=draw.randint(1, 400),
                )
            )
            fill(begins, ends, thread, depth + 1)
            start = ends

    for thread in (1, 2, 3):
        for start in range(-100, 10_000, 150):
            fill(start, start + 150, thread, 0)
    events += [kernel(start, start + draw.randint(1, 90), draw.randint(1, 500)) for start in range(0, 20_000, 300)]
    draw.shuffle(events)
    return events


@pytest.mark.parametrize("overlaps", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_random_events_cost_what_a_plain_loop_adds_up(seed, overlaps):
    events = random_events(seed, overlaps)
    cells, negative, outside = reference(events)
    assert len(events) > 500

    steps, result = steps_of(*events)

    found = {
        (i, name, field): getattr(cost, field)
        for i, ops in enumerate(steps)
        for name, cost in ops.items()
        for field in Cost._fields
        if getattr(cost, field)
    }
    assert found == {cell: total for cell, total in cells.items() if total}
    assert (result.negative_clamped, result.outside) == (negative, outside)
