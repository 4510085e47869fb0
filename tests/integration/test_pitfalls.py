"""Pitfalls of profiling PyTorch, each with the care that is taken, provoked with torch's own profiler on a CPU.

Their numbers, which the tests' names bear:

1. The first steps cost far more than those after them.  2. A device is initialised lazily.
3. A profile without kernels.  4. Two listeners on one GPU.  5. Lost records of kernels.
6. Overhead rows, and annotations on the device's timeline.  7. Nested operators counted more than once.
8. Profilers in profilers.  9. Annotations that are called like operators.  10. Negative self times.
11. Work of other threads and devices.  12. Work queued before.  13. What profiling itself costs.
14. An operator's name depends on the backend.  15. Compiled and captured steps.  16. Settings that choose kernels.
17. Devices of which only the host's time is known; rows that wait.  18. Memory of profiler sessions.

Further ones are in `test_key_averages.py` (6, 7, 9), `test_other_profilers.py` (8), `test_exact_drift.py` and
`test_real_lenet.py` (14), `test_settings.py` (16), `test_steps_of_all_kinds.py` (11, 15), `test_cuda_pitfalls.py`, and
`tests/unit` (4, 5, 6, 10, 11, 15, 17).
"""

from __future__ import annotations

import resource
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from torch.profiler import record_function

from pytest_opcost.errors import DeviceError
from pytest_opcost.measure import Plan, compat, measure
from pytest_opcost.measure import profile as measuring
from pytest_opcost.measure.devices import Device

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile

QUICK = Plan("cpu", warmup=1, steps=3)
X = torch.ones(8, 8)


def times() -> object:
    return X @ X


def calls(cost: CostProfile) -> dict[str, int]:
    return {op.name: op.calls for op in cost.ops}


def install(monkeypatch: pytest.MonkeyPatch, device: Device) -> None:
    """Let `measure` find this device, whatever the plan says."""
    monkeypatch.setattr(measuring, "find_device", lambda _name: device)


def test_1_the_first_step_is_told_apart() -> None:
    only_once = [torch.abs, torch.neg]

    def step() -> None:
        if only_once:
            only_once.pop(0)(X)
        torch.mm(X, X)

    cost = measure(step, QUICK)

    assert cost.cold is not None
    assert {name for name, *_ in cost.cold.ops} & {"aten::abs", "aten::neg"} == {"aten::abs"}
    # Neither the cold nor the warm-up step is among those measured.
    assert cost.by_name().keys() & {"aten::abs", "aten::neg", "aten::mm"} == {"aten::mm"}
    assert cost.steps == 3


def test_2_and_12_the_device_is_waited_for_before_the_profiler_starts_and_at_the_end_of_each_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    happened: list[str] = []

    def synchronize() -> None:
        profiled = torch.autograd.profiler._is_profiler_enabled
        happened.append("waited, profiled" if profiled else "waited")

    install(monkeypatch, Device(torch.device("cpu"), None, synchronize))
    measure(lambda: happened.append(str((X @ X).shape[0])), QUICK)

    assert happened[:11] == ["waited", *(["8", "waited, profiled"] * 5)]


def test_3_and_4_a_profile_without_a_kernel_is_an_error_that_says_how_to_mend_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, Device(torch.device("cpu"), "cuda", lambda: None))
    host_only = compat.profiler
    monkeypatch.setattr(compat, "profiler", lambda _device, **what: host_only(None, **what))
    monkeypatch.setenv("NSYS_PROFILING_SESSION_ID", "7")

    with pytest.raises(DeviceError) as raised:
        measure(times, QUICK)

    text = str(raised.value)
    assert "the profiler saw no kernel" in text
    assert "Found: 0 device events" in text
    assert all(cause in text for cause in ("does not run on the device", "NVreg_Restrict", "nvidia-cuda-cupti"))
    assert "stop it; nsys profiles this process (NSYS_PROFILING_SESSION_ID is set)" in text


def test_7_nested_operators_are_counted_once() -> None:
    conv = torch.nn.Conv2d(16, 16, 3)
    images = torch.ones(4, 16, 32, 32)
    with torch.no_grad():
        cost = measure(lambda: conv(images), Plan("cpu", warmup=1, steps=1))

    # Four operators around one another, of which each takes nearly all of the step.
    assert {"aten::conv2d", "aten::convolution", "aten::_convolution"} < set(calls(cost))
    assert cost.total_host_us <= cost.wall_us
    assert sum(op.share for op in cost.ops) == pytest.approx(1)


@pytest.mark.parametrize("name", ["aten::addmm", "ProfilerStep#3", "cudaLaunchKernel", "Optimizer.step#SGD.step"])
def test_9_an_annotation_is_no_operator_whatever_it_is_called(name: str) -> None:
    def step() -> None:
        with record_function(name):
            times()

    cost = measure(step, QUICK)

    assert name not in calls(cost)
    assert calls(cost)["aten::mm"] == 1
    assert sum(op.share for op in cost.ops) == pytest.approx(1)


def test_13_the_timed_steps_are_recorded_without_what_makes_recording_dearer(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[bool, bool]] = []
    real = compat.profiler

    def profiler(device: str | None, *, inputs: bool, allocations: bool) -> Any:
        made.append((inputs, allocations))
        return real(device, inputs=inputs, allocations=allocations)

    monkeypatch.setattr(compat, "profiler", profiler)
    measure(times, QUICK)

    assert made[0] == (False, False)
    assert any(inputs for inputs, _ in made[1:])
    assert any(allocations for _, allocations in made[1:])


@pytest.mark.filterwarnings("ignore")
def test_17_rows_that_wait_for_other_processes_are_in_no_share_and_no_total() -> None:
    dist = pytest.importorskip("torch.distributed")
    if not dist.is_available() or not dist.is_gloo_available():
        pytest.skip("this torch is built without gloo")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        cost = measure(lambda: (dist.all_reduce(X), times()), QUICK)
    finally:
        dist.destroy_process_group()

    waiting = [op for op in cost.ops if op.family == "comm"]
    assert [op.name for op in waiting] == ["c10d::allreduce_"]
    assert waiting[0].self_host_us > 0
    assert waiting[0].share == 0
    assert cost.total_host_us == pytest.approx(sum(op.self_host_us for op in cost.ops) - waiting[0].self_host_us)


def test_17_a_device_of_which_only_the_host_s_time_is_known_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.mps, "is_available", lambda: True, raising=False)
    monkeypatch.setattr(torch.mps, "device_count", lambda: 1)
    monkeypatch.setattr(torch.mps, "synchronize", lambda: None)

    cost = measure(times, Plan("mps", warmup=1, steps=3))

    assert cost.remarks[0] == "host time only: torch's profiler sees no kernel on mps"
    assert (cost.clock, cost.total_device_us) == ("host", 0)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory in use is read from Linux's /proc")
def test_18_two_hundred_measurements_do_not_grow_the_process() -> None:
    def resident_mib() -> float:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize() / 2**20

    plan = Plan("cpu", warmup=0, steps=1)
    for _ in range(20):
        measure(times, plan)
    before = resident_mib()
    for _ in range(200):
        measure(times, plan)

    # Each holds three sessions of the profiler: at 318 MiB in 1,000 sessions (pytorch#193348) these would be 190 MiB.
    assert resident_mib() - before < 40
