"""Inputs, kernels, synchronisations and allocations of each operator, from events made by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")
pytest.importorskip("torch")  # the package that this is in imports torch

from traces import columns, event, kernel, memory, runtime, step

from pytest_opcost.facts import OpFacts
from pytest_opcost.measure.events import Kind
from pytest_opcost.measure.exact.recording import allocations_of_steps, facts_of_steps


def one_step(*events):
    (facts,) = facts_of_steps(columns(step(), *events))
    return facts


def test_the_inputs_of_every_call_are_counted():
    facts = one_step(
        (event("aten::mm", 0, 10), "f32[2,3] f32[3,4]"),
        (event("aten::mm", 20, 30), "f32[9,9] f32[9,9]"),
        (event("aten::mm", 40, 50), "f32[9,9] f32[9,9]"),
        (event("MmBackward0", 60, 70, Kind.BACKWARD), "f32[2,4]"),
    )
    assert facts == {
        "aten::mm": OpFacts(inputs=(("f32[9,9] f32[9,9]", 2), ("f32[2,3] f32[3,4]", 1))),
        "MmBackward0": OpFacts(inputs=(("f32[2,4]", 1),)),
    }


def test_an_operator_without_tensors_has_no_inputs():
    assert one_step((event("aten::empty", 0, 10), "")) == {"aten::empty": OpFacts()}


def test_a_kernel_belongs_to_the_operator_that_launched_it():
    facts = one_step(
        event("aten::linear", 0, 100, correlation=1),
        event("aten::addmm", 10, 90, correlation=2),
        event("cudaLaunchKernel", 20, 30, Kind.RUNTIME, correlation=51, link=2),
        *(kernel("gemm", 2), kernel("gemm", 2), kernel("reduce", 2), kernel("copy", 1)),
    )
    assert facts["aten::addmm"].kernels == (("gemm", 2), ("reduce", 1))
    assert facts["aten::linear"].kernels == (("copy", 1),)
    assert facts.keys() == {"aten::linear", "aten::addmm"}


def test_a_kernel_that_no_operator_launched_stands_under_its_own_name_in_the_step_that_it_ran_after():
    replayed = [kernel("gemm", link=0, start=start) for start in (500, 1500, 1900, 2100, 90_000)]
    early = kernel("gemm", link=0, start=-10)
    first, second = facts_of_steps(columns(step(0), step(2), early, *replayed))
    assert (first, second) == ({"gemm": OpFacts(kernels=(("gemm", 3),))}, {"gemm": OpFacts(kernels=(("gemm", 2),))})


def test_waiting_inside_an_operator_counts_for_the_innermost():
    facts = one_step(
        event("aten::item", 0, 100),
        event("aten::_local_scalar_dense", 10, 90),
        runtime("cudaMemcpyAsync", 20, 30),
        runtime("cudaStreamSynchronize", 40, 50),
        event("aten::_local_scalar_dense", 200, 300),
        event("note", 210, 290, Kind.ANNOTATION),
        runtime("hipStreamSynchronize", 220, 230),
        runtime("cudaEventSynchronize", 240, 250),
    )
    assert {name: one.syncs for name, one in facts.items()} == {"aten::item": 0, "aten::_local_scalar_dense": 3}


def test_waiting_outside_of_operators_stands_under_its_own_name():
    facts = one_step(
        event("aten::mm", 0, 10),
        runtime("cudaDeviceSynchronize", 20, 30),
        event("note", 40, 90, Kind.ANNOTATION),
        runtime("cudaDeviceSynchronize", 50, 60),
        runtime("cudaLaunchKernel", 70, 80),
    )
    assert facts == {"aten::mm": OpFacts(), "cudaDeviceSynchronize": OpFacts(syncs=2)}


def test_another_thread_waits_outside_of_this_ones_operators():
    facts = one_step(event("aten::mm", 0, 100), runtime("cudaStreamSynchronize", 10, 20, thread=2))
    assert facts == {"aten::mm": OpFacts(), "cudaStreamSynchronize": OpFacts(syncs=1)}


def test_steps_are_told_apart_and_what_lies_outside_of_them_is_left_out():
    first, second = facts_of_steps(
        columns(
            *(step(0), step(2)),
            (event("aten::mm", 100, 200, correlation=1), "f32[1,1] f32[1,1]"),
            (event("aten::mm", 2100, 2200, correlation=2), "f32[2,2] f32[2,2]"),
            (event("aten::add", 2300, 2400, correlation=3), "f32[2,2]"),
            (event("aten::mm", 1100, 1200, correlation=4), "f32[7,7] f32[7,7]"),
            (event("aten::mm", 5000, 5100, correlation=5), "f32[7,7] f32[7,7]"),
            runtime("cudaDeviceSynchronize", 1500, 1600),
            *(kernel(f"kernel {link}", link) for link in range(1, 6)),
        )
    )
    assert first == {"aten::mm": OpFacts(inputs=(("f32[1,1] f32[1,1]", 1),), kernels=(("kernel 1", 1),))}
    assert second == {
        "aten::mm": OpFacts(inputs=(("f32[2,2] f32[2,2]", 1),), kernels=(("kernel 2", 1),)),
        "aten::add": OpFacts(inputs=(("f32[2,2]", 1),), kernels=(("kernel 3", 1),)),
    }


def test_a_recording_without_steps_has_none():
    assert facts_of_steps(columns(event("aten::mm", 0, 10))) == []
    assert facts_of_steps(columns(step(), step(1))) == [{}, {}]


def test_an_allocation_belongs_to_the_innermost_operator_around_it():
    first, second = allocations_of_steps(
        columns(
            *(step(0), step(2)),
            *(event("aten::convolution", 10, 90), event("note", 15, 35, Kind.ANNOTATION), event("aten::empty", 20, 30)),
            (memory(25), 640),
            (memory(26), 60),
            (memory(32), 4),
            (memory(40), 64),
            (memory(50), -640),
            *((memory(at, thread), 1_000_000) for at, thread in ((95, 1), (40, 2), (1050, 1))),
            event("aten::empty", 1000, 1100),
            event("aten::empty", 2000, 2100),
            (memory(2050), 8),
        )
    )
    assert first == {"aten::convolution": OpFacts(alloc_bytes=68), "aten::empty": OpFacts(alloc_bytes=700)}
    assert second == {"aten::empty": OpFacts(alloc_bytes=8)}
