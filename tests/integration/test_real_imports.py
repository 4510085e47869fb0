"""What torch itself prints and exports now -> the same costs as opcost's own aggregation of the same profile."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import nullcontext
from inspect import signature
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from torch.autograd.profiler_util import EventList
from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler

from pytest_opcost.costs import CostProfile, OpCost
from pytest_opcost.errors import InputError
from pytest_opcost.imports import from_profiler
from pytest_opcost.imports.files import import_file
from pytest_opcost.measure.aggregate import aggregate
from pytest_opcost.measure.events import OVERHEAD, read_events, step_mark
from pytest_opcost.measure.rows import op_rows, step_wall_us

from .test_key_averages import folded_calls

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STEPS = 3


@pytest.fixture(scope="module")
def step() -> Callable[[], object]:
    """A training step of a small network, warmed up."""
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 26 * 26, 10)
    )
    optimizer, images = torch.optim.Adam(network.parameters()), torch.randn(4, 1, 28, 28)

    def train() -> None:
        optimizer.zero_grad()
        with record_function("aten::my annotation"):
            loss = network(images).square().sum()
        loss.backward()
        optimizer.step()

    train()
    return train


#: Newer torch warns where it is not said whether events of several cycles are wanted; 2.4 does not know of it.
_KEPT = {"acc_events": True} if "acc_events" in signature(profile).parameters else {}


def profiled(step: Callable[[], object], mark: Any = step_mark, **how: Any) -> Any:
    with profile(activities=[ProfilerActivity.CPU], **_KEPT, **how) as profiler:
        for _ in range(STEPS):
            with mark():
                step()
    return profiler


def _is_python(event: Any) -> bool:
    """Whether an event is a call of Python's, recorded for the stacks; torch 2.4 tells it by the name alone."""
    if hasattr(event, "is_python_function"):
        return bool(event.is_python_function())
    return re.match(r"nn\.Module: |<built-in |.*\.py\(\d+\): |.*\(\d+\): ", event.name()) is not None


def own(profiler: Any) -> tuple[OpCost, ...]:
    """The rows of opcost's own aggregation."""
    costs = aggregate(read_events(profiler.profiler.kineto_results.events(), host_only=True))
    return op_rows(costs, slice(None), None)


def folded_in(profiler: Any) -> Counter[str]:
    """The calls that torch leaves out of its tables, of all steps."""
    return Counter(folded_calls(profiler.profiler.kineto_results.experimental_event_tree()))


def rows(found: CostProfile | tuple[OpCost, ...]) -> dict[str, tuple[int, float, float, float, bool]]:
    ops = found.ops if isinstance(found, CostProfile) else found
    return {op.name: (op.calls, op.self_host_us, op.self_device_us, op.forward, op.varying) for op in ops}


def imported(path: Path) -> CostProfile:
    (result,) = import_file(path)
    return result.profile


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a_trace_has_the_self_times_of_the_profile_that_it_is_of(step, tmp_path, name):
    profiler = profiled(step)
    profiler.export_chrome_trace(str(tmp_path / name))
    found = imported(tmp_path / name)
    assert rows(found) == rows(own(profiler))
    assert found.steps == STEPS
    assert {"aten::mkldnn_convolution", "aten::addmm", "AddmmBackward0"} <= rows(found).keys()
    assert found.wall_us == step_wall_us(
        aggregate(read_events(profiler.profiler.kineto_results.events(), host_only=True)), slice(None)
    )


def test_stacks_shapes_and_memory_in_a_trace_change_nothing(step, tmp_path, recwarn):
    with (
        profile(
            activities=[ProfilerActivity.CPU], with_stack=True, record_shapes=True, profile_memory=True, **_KEPT
        ) as profiler,
        step_mark(),
    ):
        step()
    profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    assert rows(imported(tmp_path / "trace.json")) == rows(from_profiler(profiler))


def test_a_schedule_s_steps_in_what_tensorboard_s_handler_writes(step, tmp_path):
    with profile(
        activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=STEPS, repeat=1),
        on_trace_ready=tensorboard_trace_handler(str(tmp_path), use_gzip=True), **_KEPT,
    ) as profiler:  # fmt: skip
        for _ in range(2 + STEPS):
            step()
            profiler.step()
    (path,) = tmp_path.glob("*.pt.trace.json.gz")
    found = imported(path)
    assert found.steps == STEPS
    assert rows(found) == rows(from_profiler(profiler))
    assert not any(name.startswith(("ProfilerStep", "Optimizer", "aten::my")) for name in rows(found))


def test_a_profiler_s_object(step):
    profiler = profiled(step)
    found = from_profiler(profiler)
    assert rows(found) == rows(own(profiler))
    assert found.environment.torch == torch.__version__
    assert found.environment.threads == torch.get_num_threads()
    assert rows(from_profiler(profiler.profiler)) == rows(found)


@pytest.mark.parametrize("what", [lambda: profile(activities=[ProfilerActivity.CPU]), lambda: "no profiler"])
def test_an_object_that_has_no_profile(what):
    with pytest.raises(InputError, match="there is no profile in this"):
        from_profiler(what())


def test_a_profile_of_nothing():
    with profile(activities=[ProfilerActivity.CPU], **_KEPT) as profiler:
        pass
    with pytest.raises(InputError, match="no operator was recorded in it"):
        from_profiler(profiler)


def test_a_trace_without_kineto(step, tmp_path):
    profiler = profiled(step)
    path = tmp_path / "trace.json"
    EventList.export_chrome_trace(profiler.events(), str(path))
    found, folded = imported(path), folded_in(profiler)
    assert found.steps == STEPS
    for name, (calls, us, *_) in rows(own(profiler)).items():
        assert found.by_name()[name].calls == calls - folded[name] / STEPS
        if not folded[name]:
            # It is written in floats.
            assert found.by_name()[name].self_host_us == pytest.approx(us, abs=0.01)


@pytest.mark.parametrize(
    "how",
    [
        {"max_name_column_width": None},
        {"max_name_column_width": None, "header": "my network", "sort_by": "self_cpu_time_total"},
        pytest.param(
            {"max_name_column_width": None, "time_unit": "us"},
            marks=pytest.mark.skipif(
                "time_unit" not in signature(EventList.table).parameters, reason="this torch chooses the unit itself"
            ),
        ),
    ],
)
@pytest.mark.parametrize("group", [{}, {"group_by_input_shape": True}, {"group_by_stack_n": 5}])
def test_a_table_has_the_mean_self_times_of_the_profile_that_it_is_of(step, tmp_path, how, group):
    profiler = profiled(step, record_shapes=True, with_stack=True, with_flops=True)
    costs = aggregate(
        read_events([one for one in profiler.profiler.kineto_results.events() if not _is_python(one)], host_only=True)
    )
    path = tmp_path / "table.txt"
    path.write_text(f"epoch 1\n{profiler.key_averages(**group).table(row_limit=-1, **how)}\ndone\n", encoding="utf-8")
    found = rows(imported(path))
    folded = folded_in(profiler)
    calls, host_us = costs.calls.sum(axis=0) / STEPS, costs.host_ns.sum(axis=0) / STEPS / 1000
    assert {name for name in found if name != "aten::my annotation"} == set(costs.names)
    for place, name in enumerate(costs.names):
        assert not OVERHEAD.match(name)
        assert found[name][0] == round(calls[place] - folded[name] / STEPS)
        # Each row is rounded, and several rows of one operator are.
        assert found[name][1] == pytest.approx(host_us[place], rel=2e-3, abs=0.02)


def test_a_limited_table_keeps_its_total(step, tmp_path):
    profiler = profiled(step, nullcontext)  # a step's mark would count where it is printed, and only there
    path = tmp_path / "table.txt"
    path.write_text(profiler.key_averages().table(row_limit=5, sort_by="self_cpu_time_total"), encoding="utf-8")
    found = imported(path)
    # Overhead and torch's own annotations count where they were cut off with the rest, since nothing tells them there.
    text = path.read_text(encoding="utf-8")
    left_out = ("Optimizer.", *(row.key for row in profiler.key_averages() if OVERHEAD.match(row.key)))
    rows = [row for row in profiler.key_averages() if not (row.key.startswith(left_out) and f" {row.key} " in text)]
    total = sum(row.self_cpu_time_total for row in rows)
    assert len(found.ops) <= 6
    assert found.total_host_us == pytest.approx(total, rel=2e-3)
