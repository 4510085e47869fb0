"""Pitfalls of profiling that a machine without a GPU does not provoke, on events made by hand.

The numbers are those of the list in `tests/integration/test_pitfalls.py`. Times are nanoseconds.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import CUDA, op, profile

pytest.importorskip("torch")

import torch  # only where there is one

from pytest_opcost.costs import TOTAL, WAITING, totals, with_shares
from pytest_opcost.families import family_of
from pytest_opcost.measure import compat, devices
from pytest_opcost.measure.aggregate import StepCosts, aggregate
from pytest_opcost.measure.devices import Device, find_device
from pytest_opcost.measure.events import STEP_MARK, Event, Events, Kind
from pytest_opcost.measure.remarks import remarks_on
from pytest_opcost.measure.rows import cold_step, op_rows

HOST = Device(torch.device("cpu"), None, lambda: None)
GPU = Device(torch.device("cuda"), "cuda", lambda: None)
STEP_NS = 1000


class Steps:
    """The events of some steps, one after the other."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._at = -STEP_NS
        self._ids = 0

    def step(self) -> Steps:
        self._at += STEP_NS
        return self._add(STEP_MARK, Kind.ANNOTATION, 0, STEP_NS - 1)

    def op(self, name: str = "aten::mm", start: int = 10, end: int = 50) -> Steps:
        self._ids += 1
        return self._add(name, Kind.OPERATOR, start, end, correlation=self._ids)

    def launch(self, call: str = "cudaLaunchKernel", *, kernel: bool = True, ids: bool = True) -> Steps:
        """A launch by the last operator, and its kernel, if there is a record of that."""
        launch = 1_000_000 + len(self._events)
        self._add(call, Kind.RUNTIME, 20, 30, correlation=launch, link=self._ids)
        return self.kernel(launch if ids else 0, self._ids) if kernel else self

    def kernel(self, launch: int, link: int = 0) -> Steps:
        return self._add("a_kernel", Kind.DEVICE, 100, 200, 7, launch, link)

    def _add(
        self, name: str, kind: Kind, start: int, end: int, thread: int = 1, correlation: int = 0, link: int = 0
    ) -> Steps:
        self._events.append(Event(name, kind, self._at + start, self._at + end, thread, correlation, link))
        return self

    @property
    def costs(self) -> StepCosts:
        return aggregate(Events.of(self._events))


def remarks(steps: Steps, device: Device = GPU, warm: slice = slice(1, None)) -> list[str]:
    return [*remarks_on(device, steps.costs, warm)]


def test_1_what_the_cold_step_cost_is_in_no_row() -> None:
    costs = Steps().step().op(end=900).op("aten::cold").step().op(end=60).step().op(end=60).costs
    (row,) = op_rows(costs, slice(1, None), {})
    assert (row.name, row.self_host_us) == ("aten::mm", 0.05)
    assert cold_step(costs).ops[0] == ("aten::mm", 0.85, 0.0)


@pytest.mark.parametrize(
    ("name", "value"), [("NSYS_PROFILING_SESSION_ID", "7"), ("CUDA_INJECTION64_PATH", "/opt/tool/libinjection.so")]
)
def test_4_another_tool_on_the_same_gpu_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    steps = Steps().step().op().launch().step().op().launch()
    monkeypatch.delenv("NSYS_PROFILING_SESSION_ID", raising=False)
    monkeypatch.delenv("CUDA_INJECTION64_PATH", raising=False)
    assert remarks(steps) == []
    monkeypatch.setenv(name, value)
    (told,) = remarks(steps)
    assert f"({name} is set)" in told
    assert remarks(steps, HOST) == []


LOST = "the profiler lost records of kernels in {} steps (pytorch#192021): device times may be too low"


def test_5_a_launch_without_its_kernel_is_told() -> None:
    steps = Steps()
    for lost in (False, True, False):
        steps.step().op().launch().launch(kernel=not lost)
    assert remarks(steps) == [LOST.format("1 of 2")]
    assert remarks(steps, warm=slice(2, None)) == []


@pytest.mark.parametrize(
    "call", ["cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel", "cuLaunchKernel",
             "cuLaunchKernelEx", "hipLaunchKernel", "hipModuleLaunchKernel", "hipExtModuleLaunchKernel"]
)  # fmt: skip
def test_5_a_kernel_that_is_lost_in_every_step_is_told(call: str) -> None:
    steps = Steps()
    for _ in range(3):
        steps.step().op().launch(call).launch(call, kernel=False)
    assert remarks(steps) == [LOST.format("2 of 2")]


def test_5_of_a_replayed_graph_s_kernels_the_most_are_those_that_there_should_be() -> None:
    steps = Steps()
    for kernels in (3, 4, 4, 3, 4):
        steps.step().op().launch("cudaGraphLaunch", kernel=False)
        for _ in range(kernels):
            steps.kernel(launch=5)
    assert remarks(steps) == [LOST.format("1 of 4")]


@pytest.mark.parametrize("call", ["cudaMemcpyAsync", "cudaGraphLaunch", "cudaLaunchCooperativeKernelMultiDevice"])
def test_5_a_call_that_need_not_start_one_kernel_is_no_launch(call: str) -> None:
    steps = Steps()
    for _ in range(3):
        steps.step().op().launch().launch(call, kernel=False)
    assert remarks(steps) == []


def test_5_steps_that_launch_differently_are_not_compared() -> None:
    steps = Steps()
    for launches in (1, 2, 1, 3):
        steps.step().op()
        for _ in range(launches):
            steps.launch()
    assert remarks(steps) == []


def test_5_what_is_captured_into_a_graph_is_not_missed() -> None:
    steps = Steps()
    for _ in range(3):
        steps.step().op().launch().launch("cudaStreamBeginCapture", kernel=False).launch(kernel=False)
    assert remarks(steps) == []


def test_5_without_ids_that_join_launches_and_kernels_nothing_is_said() -> None:
    steps = Steps()
    for _ in range(3):
        steps.step().op().launch(ids=False).launch(ids=False)
    assert remarks(steps) == []


def test_10_negative_self_times_are_told_and_count_as_none() -> None:
    steps = Steps().step().op().step().op(start=10, end=40).op("aten::add", start=300, end=200)
    assert remarks(steps, HOST) == ["1 self times came out negative and count as none: the host's clock is not steady"]
    rows = op_rows(steps.costs, slice(1, None), {})
    assert {row.name: row.self_host_us for row in rows} == {"aten::mm": 0.03, "aten::add": 0.0}


def test_10_steady_self_times_are_no_remark() -> None:
    assert remarks(Steps().step().op().step().op(), HOST) == []


@pytest.mark.parametrize(
    ("name", "used", "waited_for"),
    [
        ("cuda", [0], ["cuda"]),
        ("cuda", [0, 2], ["cuda", 2]),
        ("cuda:1", [1], ["cuda:1"]),
        ("cuda:1", [0, 1], ["cuda:1", 0]),
        ("cuda:1", [], ["cuda:1"]),  # not touched yet: waiting for it does
    ],
)
def test_11_every_device_in_use_is_waited_for_the_measured_one_first(
    monkeypatch: pytest.MonkeyPatch, name: str, used: list[int], waited_for: list[object]
) -> None:
    waits: list[object] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=None: waits.append(device))
    monkeypatch.setattr(torch._C, "_cuda_hasPrimaryContext", lambda index: index in used, raising=False)

    find_device(name).synchronize()

    assert [wait if isinstance(wait, int) else str(wait) for wait in waits] == waited_for


def test_11_where_torch_does_not_say_which_devices_are_in_use_the_measured_one_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(torch._C, "_cuda_hasPrimaryContext", raising=False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert compat.devices_in_use("cuda") == []
    assert compat.devices_in_use("xpu") == []
    assert devices.find_device("cpu").synchronize() is None


def test_17_waiting_for_other_processes_has_no_share_and_is_in_no_total() -> None:
    ops = [
        op("aten::mm", 30, device_us=60),
        op("aten::add", 10, device_us=40),
        op("c10d::allreduce_", 500, device_us=900),
        op("cudaDeviceSynchronize", 800),
    ]
    assert {family_of(one.name) for one in ops} - {"addmm", "elementwise"} == WAITING
    host_us, device_us = totals(ops)
    assert (host_us, device_us) == (40, 100)
    cost = with_shares(replace(profile(*ops, environment=CUDA), total_host_us=host_us, total_device_us=device_us))
    shares = {one.name: one.share for one in cost.ops}
    assert shares == pytest.approx(
        {"aten::mm": 0.6, "aten::add": 0.4, "c10d::allreduce_": 0.0, "cudaDeviceSynchronize": 0.0}
    )
    assert [one.name for one in cost.ops][:2] == ["aten::mm", "aten::add"]
    assert cost.side_us(TOTAL) == 100
    assert cost.ratio("elementwise/total") == pytest.approx(0.4)
    # It can still be asked for by name.
    assert cost.ratio("comm/total") == pytest.approx(9)
    head, other = cost.top(1)
    assert [one.name for one in head] == ["aten::mm"]
    assert other is not None
    assert (other.calls, other.self_device_us, other.share) == (1, 40, pytest.approx(0.4))
