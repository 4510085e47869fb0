"""Steps of all kinds on a real GPU: kernels are all there, belong to whom they should, and nothing else is counted.

The numbers are those of the pitfalls in `test_pitfalls.py`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

import torch

from pytest_opcost.measure import Plan, measure

from .cuda_network import ADDMM_FLOPS, CONV_FLOPS, PLAN, images, kernels, network, sound
from .whole_steps import flops_by_family

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.mark.filterwarnings("ignore")  # what the compiler warns of is not ours
@pytest.mark.parametrize("mode", [None, "reduce-overhead"])
def test_15_a_compiled_step(mode: str | None) -> None:
    pytest.importorskip("triton")
    dynamo = pytest.importorskip("torch._dynamo")
    model, given = network(), images()
    compiled = torch.compile(model, mode=mode)

    def step() -> None:
        with torch.no_grad():
            compiled(given)

    try:
        try:
            for _ in range(5):
                step()
        except Exception as error:
            pytest.skip(f"nothing can be compiled here: {type(error).__name__}: {error}")
        cost = measure(step, PLAN)
    finally:
        dynamo.reset()

    sound(cost)
    launched = {name for op in cost.ops if op.facts is not None for name, _ in op.facts.kernels}
    assert any("triton" in name for name in {op.name for op in cost.ops} | launched)
    assert not [op.name for op in cost.ops if op.varying]


def test_15_a_replayed_graph_is_told_kernel_by_kernel() -> None:
    model, given = network(), images()
    with torch.no_grad():
        eager = measure(lambda: model(given), PLAN)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                model(given)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(given)
        replayed = measure(graph.replay, PLAN)

    sound(replayed)
    assert not [name for name in replayed.by_name() if name.startswith("aten::")]
    assert replayed.by_name()["cudaGraphLaunch"].calls == 1
    ran = {op.name for op in replayed.ops if op.self_device_us > 0}
    launched = {name for op in eager.ops if op.facts is not None for name, _ in op.facts.kernels}
    assert ran & launched
    assert not [op.name for op in replayed.ops if op.varying]
    assert 0.1 < replayed.total_device_us / eager.total_device_us < 10


def test_two_streams() -> None:
    given = torch.randn(1024, 1024, device="cuda")
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]

    def step() -> None:
        for stream in streams:
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                torch.mm(given, given)

    one = measure(lambda: torch.mm(given, given), PLAN).by_name()["aten::mm"]
    cost = measure(step, PLAN)

    sound(cost, overlap=2.1)
    row = cost.by_name()["aten::mm"]
    assert (row.calls, kernels(row)) == (2, 2 * kernels(one))
    assert 1.5 < row.self_device_us / one.self_device_us < 10


def test_autocast() -> None:
    model, given = network(), images()

    def step() -> None:
        with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
            model(given)

    cost = measure(step, PLAN)

    sound(cost)
    assert flops_by_family(cost) == {"conv": CONV_FLOPS, "addmm": ADDMM_FLOPS}
    facts = cost.by_name()["aten::addmm"].facts
    assert facts is not None
    assert all("f32" not in text for text, _ in facts.inputs)
    assert cost.by_name()["aten::_to_copy"].calls == 5


@pytest.mark.parametrize("inference", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_layouts_and_inference(layout: torch.memory_format, inference: Callable[[], torch.no_grad]) -> None:
    model, given = network().to(memory_format=layout), images().contiguous(memory_format=layout)

    def step() -> None:
        with inference():
            model(given)

    cost = measure(step, PLAN)

    sound(cost)
    assert flops_by_family(cost) == {"conv": CONV_FLOPS, "addmm": ADDMM_FLOPS}
    assert {op.forward for op in cost.ops} == {1.0}
    assert sum(op.self_device_us for op in cost.ops if op.family == "conv") > 0


def test_a_step_that_allocates_nothing() -> None:
    a, b, out = torch.ones(3, 64, 64, device="cuda")

    def step() -> None:
        torch.mm(a, b, out=out)
        torch.add(out, a, out=out)

    cost = measure(step, PLAN)

    sound(cost)
    assert [op.name for op in cost.ops if op.self_device_us > 0 and op.family not in ("addmm", "elementwise")] == []
    assert {op.facts.alloc_bytes for op in cost.ops if op.facts is not None} == {0}


def test_a_step_of_one_huge_operator() -> None:
    large = torch.randn(8192, 8192, device="cuda")

    cost = measure(lambda: torch.mm(large, large), PLAN)

    sound(cost)
    assert flops_by_family(cost) == {"addmm": 2 * 8192**3}
    assert cost.by_name()["aten::mm"].share > 0.9
    assert cost.total_device_us > 0.5 * cost.wall_us


def test_a_step_that_keeps_what_it_should_not_is_told_to_become_dearer() -> None:
    kept: list[torch.Tensor] = []

    def step() -> object:
        kept.append(torch.ones(4_000_000, device="cuda"))
        return torch.stack([tensor.sum() for tensor in kept]).sum()

    cost = measure(step, Plan("cuda", warmup=1, steps=25))

    assert [remark for remark in cost.remarks if re.match(r"the step became dearer .* in 25 steps", remark)]
    assert cost.by_name()["aten::sum"].varying


def test_what_each_step_allocates_lies_elsewhere() -> None:
    given, places = images(), []

    def step() -> None:
        places.append((given + 1).data_ptr())

    measure(step, replace(PLAN, exact=False))

    assert len(places) == 1 + 3 + 10
    assert len({*places}) > 7
