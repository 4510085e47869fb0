"""Steps that are unlike a plain loop over batches, on a CPU: what is exact about them is right, and nothing breaks."""

from __future__ import annotations

import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from pytest_opcost.measure import Plan, compat, measure

from .whole_steps import flops_by_family, in_two_threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.costs import CostProfile, OpCost

QUICK = Plan("cpu", warmup=1, steps=3)
#: Two for each multiply-add: 2 images, 4 maps of 6 x 6, each of 3 x 3 x 3 weights; then 144 to 4.
CONV_FLOPS, ADDMM_FLOPS = 2 * 2 * 4 * 6 * 6 * 27, 2 * 2 * 144 * 4
CHANGES_FROM_RUN_TO_RUN = re.compile(r"\b(?=\w*\d)\w{24,}\b|\d+/\d+|0x")


@pytest.fixture(autouse=True)
def _no_traces() -> Iterator[None]:
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    yield
    assert torch.get_num_threads() == threads


def network() -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 4))


def images() -> torch.Tensor:
    return torch.randn(2, 3, 8, 8)


def only(cost: CostProfile, name: str) -> OpCost:
    return cost.by_name()[name]


def inputs(op: OpCost) -> set[str]:
    assert op.facts is not None
    return {one for text, _ in op.facts.inputs for one in text.split()}


def sound(cost: CostProfile) -> None:
    """What holds for any step."""
    assert cost.remarks == ()
    assert cost.negative_clamped == 0
    assert cost.steps == 3
    assert sum(op.share for op in cost.ops) == pytest.approx(1)
    assert not [op.name for op in cost.ops if op.varying]
    assert not [op.name for op in cost.ops if CHANGES_FROM_RUN_TO_RUN.search(op.name)]
    assert cost.total_host_us > 0


@pytest.mark.filterwarnings("ignore")  # what the compiler warns of is not ours
@pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="needs a C++ compiler")
def test_a_compiled_step() -> None:
    """Pitfall 15: what is compiled hides in rows whose names bear hashes; library calls stay rows of their own."""
    dynamo = pytest.importorskip("torch._dynamo")
    model, given = network(), images()
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        compiled(given).square().mean().backward()
        optimizer.step()

    try:
        try:
            step()
        except Exception as error:
            pytest.skip(f"nothing can be compiled here: {type(error).__name__}")
        cost = measure(step, QUICK)
    finally:
        dynamo.reset()

    sound(cost)
    backward = {"conv": CONV_FLOPS, "addmm": 2 * ADDMM_FLOPS}  # of its inputs only the layer's own needs a gradient
    assert flops_by_family(cost) == {"conv": CONV_FLOPS + backward["conv"], "addmm": ADDMM_FLOPS + backward["addmm"]}
    assert only(cost, "aten::convolution_backward").forward == 0
    compiled_rows = {op.name for op in cost.ops if op.family == "compiled"}
    assert {"CompiledFunction", "CompiledFunctionBackward", "Torch-Compiled Region"} <= compiled_rows
    # Where there is a row of the graphs, it is one for both of them.
    graphs = [op for op in cost.ops if "CompiledFxGraph" in op.name]
    assert [(op.name, op.calls) for op in graphs] in ([], [("## Call CompiledFxGraph ##", 2)])


def test_autocast_in_the_step() -> None:
    model, given = network(), images()

    def step() -> None:
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            model(given)

    cost = measure(step, QUICK)

    sound(cost)
    assert flops_by_family(cost) == {"conv": CONV_FLOPS, "addmm": ADDMM_FLOPS}
    assert inputs(only(cost, "aten::addmm")) == {"bf16[4]", "bf16[2,144]", "bf16[144,4]"}
    # The input and each weight and bias are cast, and only once.
    assert only(cost, "aten::_to_copy").calls == 5
    assert dict(cost.environment.settings)["autocast"] == "off"


def test_autocast_around_the_measurement_is_a_setting() -> None:
    model, given = network(), images()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        cost = measure(lambda: model(given), QUICK)

    sound(cost)
    assert dict(cost.environment.settings)["autocast"] == "bfloat16"
    assert inputs(only(cost, "aten::addmm")) == {"bf16[4]", "bf16[2,144]", "bf16[144,4]"}


def test_channels_last() -> None:
    model = network()[:2].to(memory_format=torch.channels_last)
    given = images().contiguous(memory_format=torch.channels_last)
    with torch.no_grad():
        cost = measure(lambda: model(given), QUICK)

    sound(cost)
    assert flops_by_family(cost) == {"conv": CONV_FLOPS}
    assert "aten::copy_" not in cost.by_name()  # nothing is brought into another layout


def test_inference_mode() -> None:
    model, given = network(), images()

    def step() -> None:
        with torch.inference_mode():
            model(given)

    cost = measure(step, QUICK)

    sound(cost)
    assert flops_by_family(cost) == {"conv": CONV_FLOPS, "addmm": ADDMM_FLOPS}
    assert {op.forward for op in cost.ops} == {1.0}


def test_a_step_that_allocates_nothing() -> None:
    a, b, out = torch.ones(3, 16, 16)

    def step() -> None:
        torch.mm(a, b, out=out)
        torch.add(out, a, out=out)

    cost = measure(step, QUICK)

    sound(cost)
    assert flops_by_family(cost) == {"addmm": 2 * 16**3}
    assert {op.facts.alloc_bytes for op in cost.ops if op.facts is not None} == {0}
    assert not [op.name for op in cost.ops if op.family == "allocate"]


def test_a_step_with_ten_thousand_tiny_operators() -> None:
    tiny = torch.ones(2)

    def step() -> None:
        for _ in range(10_000):
            tiny.neg_()

    cost = measure(step, QUICK)

    sound(cost)
    (row,) = cost.ops
    assert (row.name, row.calls, row.share) == ("aten::neg_", 10_000, 1.0)
    assert row.facts is not None
    assert row.facts.inputs == (("f32[2]", 10_000),)
    # Each of them takes a microsecond or so, most of it the recording.
    assert 10_000 * 0.05 < row.self_host_us < cost.wall_us


def test_a_step_of_one_huge_operator() -> None:
    large = torch.ones(1000, 1000)

    cost = measure(lambda: torch.mm(large, large), QUICK)

    sound(cost)
    assert flops_by_family(cost) == {"addmm": 2 * 1000**3}
    assert cost.ops[0].name == "aten::mm"
    assert cost.ops[0].share > 0.9
    assert 0.1 < cost.total_host_us / cost.wall_us < 1.1


@pytest.mark.parametrize("pooled", [True, False], ids=["threads that were there before", "threads of its own"])
def test_a_step_that_uses_threads(pooled: bool) -> None:
    """Pitfall 11: work that another thread does for the step is part of it, from torch 2.5 on."""
    work, barrier = torch.ones(16, 16), threading.Barrier(2)

    def run() -> None:
        barrier.wait()  # so that it is two threads, not one after the other
        torch.mm(work, work)

    with ThreadPoolExecutor(2) as pool:

        def step() -> None:
            if pooled:
                for future in [pool.submit(run) for _ in range(2)]:
                    future.result()
            else:
                in_two_threads(run)
            work.neg_()

        step()
        cost = measure(step, QUICK)

    sound(cost)
    calls = {op.name: op.calls for op in cost.ops if op.family != "view"}
    all_threads = compat._every_thread() is not None
    assert calls == ({"aten::mm": 2, "aten::neg_": 1} if all_threads else {"aten::neg_": 1})


def test_a_step_that_keeps_what_it_should_not_is_told_to_become_dearer() -> None:
    kept: list[torch.Tensor] = []

    def step() -> object:
        kept.extend(torch.ones(100_000) for _ in range(4))
        return sum(tensor.sum() for tensor in kept)

    cost = measure(step, Plan("cpu", warmup=1, steps=25))

    (told,) = cost.remarks
    growth = re.fullmatch(r"the step became dearer while it was measured, by ([\d,]+) % in 25 steps", told)
    assert growth is not None
    # From 12 tensors to 108.
    assert 100 < int(growth[1]) < 10_000
    row = only(cost, "aten::sum")
    assert row.varying
    assert row.facts is not None
    assert "inputs" in row.facts.varying
