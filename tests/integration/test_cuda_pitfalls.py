"""Pitfalls of profiling on a real GPU; their numbers are those of `test_pitfalls.py`."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

pytest.importorskip("torch")

import torch
from torch.profiler import record_function

from pytest_opcost.measure import Plan, compat, fresh_memory, measure

from .cuda_network import PLAN, images, kernels, network, sound
from .whole_steps import in_two_threads

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def in_a_fresh_process(script: str) -> str:
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_2_the_device_is_initialised_before_the_first_step() -> None:
    script = """
import torch
from pytest_opcost.measure import Plan, measure
seen = []
def step():
    seen.append(torch.cuda.is_initialized())
    return torch.ones(8, device="cuda") + 1
assert not torch.cuda.is_initialized()
measure(step, Plan("cuda", warmup=1, steps=3))
print(seen[0])
"""
    assert in_a_fresh_process(script) == "True"


def test_6_annotations_and_overhead_are_no_work_of_the_device() -> None:
    model, given = network(), images()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        with record_function("aten::addmm of mine"):
            loss = model(given).square().mean()
        loss.backward()
        optimizer.step()

    cost = measure(step, PLAN)

    sound(cost)
    rows = cost.by_name()
    assert not [name for name in rows if name.startswith(("aten::addmm of", "Optimizer.", "pytest-opcost"))]
    assert not [name for name in rows if "Buffer" in name or name == "Instrumentation"]
    # 11: the backward phase runs in a thread of autograd's own.
    assert rows["aten::convolution_backward"].forward == 0
    assert rows["aten::convolution_backward"].self_device_us > 0
    assert rows["aten::addmm"].forward == 1


def test_10_and_17_waiting_for_the_device_is_in_no_share() -> None:
    model, given = network(), images()
    with torch.no_grad():
        cost = measure(lambda: model(given), PLAN)

    row = cost.by_name()["cudaDeviceSynchronize"]
    assert (row.family, row.share) == ("wait", 0)
    assert row.calls == len(compat.devices_in_use("cuda"))


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
def test_11_work_on_another_device_is_waited_for_and_counted() -> None:
    slow, quick = torch.randn(6000, 6000, device="cuda:0"), torch.randn(64, 64, device="cuda:1")

    def step() -> None:
        torch.mm(slow, slow)
        torch.mm(quick, quick)

    cost = measure(step, Plan("cuda:1", warmup=3, steps=10))

    sound(cost)
    row = cost.by_name()["aten::mm"]
    assert row.calls == 2
    assert kernels(row) >= 2
    assert cost.wall_us > 0.8 * row.self_device_us
    assert cost.by_name()["cudaDeviceSynchronize"].calls == 2


def test_12_what_was_queued_before_is_not_in_the_first_step() -> None:
    large, tiny = torch.randn(8192, 8192, device="cuda"), torch.ones(8, device="cuda")
    torch.mm(large, large)
    torch.cuda.synchronize()
    for _ in range(20):
        torch.mm(large, large)

    cost = measure(tiny.neg, PLAN)

    sound(cost)
    assert [op.name for op in cost.ops if op.self_device_us > 0] == ["aten::neg"]
    assert cost.cold is not None
    # Twenty of these products take 100 ms and more.
    assert cost.cold.device_us < 1000


@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS:UserWarning")  # a new thread has no CUDA context yet
def test_11_a_step_that_uses_threads() -> None:
    given = torch.randn(256, 256, device="cuda")
    barrier = threading.Barrier(2)

    def run() -> None:
        barrier.wait()
        torch.mm(given, given)

    def step() -> None:
        in_two_threads(run)
        given.neg_()

    step()
    cost = measure(step, PLAN)

    sound(cost, overlap=2.1)
    if compat._every_thread() is None:
        pytest.skip("other threads' operators are seen from torch 2.5 on")
    row = cost.by_name()["aten::mm"]
    assert row.calls == 2
    assert kernels(row) >= 2
    assert row.self_device_us > 0


def test_5_no_kernel_of_ten_thousand_is_lost() -> None:
    tiny = torch.ones(2, device="cuda")

    def step() -> None:
        for _ in range(10_000):
            tiny.neg_()

    cost = measure(step, Plan("cuda", warmup=1, steps=3))

    sound(cost)
    row = cost.by_name()["aten::neg_"]
    assert (row.calls, kernels(row), row.share, row.varying) == (10_000, 10_000, 1.0, False)
    # A kernel takes a microsecond or two, and each of them is counted.
    assert row.self_device_us > 10_000 * 0.3


@pytest.mark.skipif(not hasattr(torch.backends.cudnn, "conv"), reason="fp32_precision came with torch 2.9")
def test_16_a_precision_set_by_backend_is_a_setting() -> None:
    script = """
import torch
from pytest_opcost.measure import Plan, measure
torch.backends.cuda.matmul.fp32_precision = "tf32"
x = torch.ones(64, 64, device="cuda")
settings = dict(measure(lambda: x @ x, Plan("cuda", warmup=1, steps=3)).environment.settings)
print(settings["matmul_fp32"])
"""
    assert in_a_fresh_process(script) == "tf32"


def test_small_tensors_of_a_test_do_not_lie_beside_what_others_hold() -> None:
    held = [torch.ones(10, device="cuda"), torch.ones(3 * 2**19, dtype=torch.uint8, device="cuda")]
    beside = torch.ones(10, device="cuda")
    del beside
    _kept = fresh_memory("cuda", "0 0 test_a")
    stats = torch.cuda.memory_stats()
    small = torch.ones(10, device="cuda")

    assert stats["inactive_split_bytes.all.current"] == 0
    assert abs(small.data_ptr() - held[0].data_ptr()) >= 2**20
