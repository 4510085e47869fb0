"""Dispatched calls -> the profiler's rows, on events and calls made by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")
pytest.importorskip("torch")

from traces import columns, event, step

from pytest_opcost.facts import OpFacts, Place
from pytest_opcost.measure.events import Kind
from pytest_opcost.measure.exact.attribute import CALL_MARK, Call, Joined, attributed, operator_calls

CONV1, FC1, BACK = Place("forward", "conv1", "m.py:3"), Place("forward", "fc1", "m.py:4"), Place("backward", "fc1", "")


def mark(number, start, end):
    """The annotation around the call of this number."""
    return event(f"{CALL_MARK}{number}", start, end, Kind.ANNOTATION)


def one_step(calls, *events):
    (facts,) = attributed(Joined.of(columns(step(), *events)), calls)
    return facts


def convolution(flops=100, primitives=("reorder jit:blk", "convolution jit:avx512_core", "reorder jit:blk")):
    """conv2d, which calls convolution, which is dispatched and runs oneDNN's."""
    return one_step(
        [Call("aten::convolution", CONV1, flops, primitives)],
        event("aten::conv2d", 0, 100),
        mark(0, 10, 90),
        event("aten::convolution", 20, 80),
        event("aten::_convolution", 30, 70),
        event("aten::mkldnn_convolution", 40, 60),
        event("aten::empty", 45, 50),
        event("aten::resize_", 61, 62),
    )


def test_the_flops_of_a_call_are_the_innermost_s_of_its_family():
    flops = {name: one.flops for name, one in convolution().items() if one.flops}
    assert flops == {"aten::mkldnn_convolution": 100}


def test_the_innermost_of_the_family_may_lie_in_an_operator_of_another():
    facts = one_step(
        [Call("aten::convolution", CONV1, 100, [])],
        mark(0, 0, 100),
        event("aten::convolution", 10, 90),
        event("aten::contiguous", 20, 80),
        event("aten::mkldnn_convolution", 30, 70),
    )
    assert {name: one.flops for name, one in facts.items() if one.flops} == {"aten::mkldnn_convolution": 100}


def test_so_are_the_primitives():
    kernels = {name: one.kernels for name, one in convolution().items() if one.kernels}
    assert kernels == {"aten::mkldnn_convolution": (("reorder jit:blk", 2), ("convolution jit:avx512_core", 1))}


def test_everything_in_and_around_a_call_has_its_place():
    facts = convolution()
    assert {one.places for one in facts.values()} == {(CONV1,)}
    assert len(facts) == 6


def test_a_call_without_an_operator_of_its_family_counts_for_the_first_in_it():
    facts = one_step(
        [Call("aten::gru", CONV1, 100, ["mkl sgemm"])],
        mark(0, 0, 100),
        event("aten::addmm", 10, 40),
        event("aten::empty", 15, 20),
        event("aten::tanh", 50, 60),
    )
    assert facts["aten::addmm"] == OpFacts(flops=100, kernels=(("mkl sgemm", 1),), places=(CONV1,))
    assert facts["aten::tanh"] == OpFacts(places=(CONV1,))


def test_a_call_without_any_operator_counts_for_nobody():
    assert one_step([Call("aten::mm", FC1, 100, ["mkl sgemm"])], mark(0, 0, 10), event("aten::add", 20, 30)) == {}


def test_several_workers_share_the_flops_of_one_call():
    facts = one_step(
        [Call("aten::matmul", FC1, 99, ["mkl sgemm", "mkl sgemm"])],
        mark(0, 0, 100),
        event("aten::matmul", 1, 99),
        event("aten::mm", 10, 20),
        event("aten::mm", 30, 40),
        event("aten::bmm", 50, 60),
    )
    assert {name: one.flops for name, one in facts.items()} == {"aten::matmul": 0, "aten::mm": 66, "aten::bmm": 33}
    assert facts["aten::mm"].kernels == (("mkl sgemm", 2),)


@pytest.mark.parametrize("flops", [0, 1, 100, 101])
def test_no_operation_is_lost_in_sharing(flops):
    facts = one_step(
        [Call("aten::matmul", FC1, flops, [])],
        mark(0, 0, 100),
        *(event(f"aten::{name}", at, at + 5) for at, name in ((10, "mm"), (20, "bmm"), (30, "addmm"))),
    )
    assert sum(one.flops for one in facts.values()) == flops


def test_calls_of_one_operator_add_up():
    facts = one_step(
        [Call("aten::addmm", FC1, 100, ["mkl sgemm"]), Call("aten::addmm", CONV1, 11, ["mkl sgemm", "mkl sgemv"])],
        *(mark(0, 0, 10), event("aten::addmm", 1, 9)),
        *(mark(1, 20, 30), event("aten::addmm", 21, 29)),
    )
    assert facts == {
        "aten::addmm": OpFacts(flops=111, kernels=(("mkl sgemm", 2), ("mkl sgemv", 1)), places=(FC1, CONV1))
    }


def test_a_call_within_a_call_keeps_its_own():
    facts = one_step(
        [Call("aten::convolution", CONV1, 100, []), Call("aten::mm", FC1, 7, ["mkl sgemm"])],
        *(mark(0, 0, 100), event("aten::convolution", 10, 90)),
        *(mark(1, 20, 80), event("aten::mm", 30, 70)),
    )
    assert facts["aten::convolution"] == OpFacts(flops=100, places=(CONV1,))
    assert facts["aten::mm"] == OpFacts(flops=7, kernels=(("mkl sgemm", 1),), places=(FC1,))


def test_an_autograd_node_has_the_place_of_the_first_call_in_it():
    facts = one_step(
        [Call("aten::mm", BACK, 10, []), Call("aten::t", CONV1, 0, [])],
        event("autograd::engine::evaluate_function: AddmmBackward0", 0, 100, Kind.BACKWARD),
        event("AddmmBackward0", 10, 90, Kind.BACKWARD),
        *(mark(0, 20, 40), event("aten::mm", 25, 35)),
        *(mark(1, 50, 70), event("aten::t", 55, 65)),
        event("AddBackward0", 200, 210, Kind.BACKWARD),
    )
    assert facts["AddmmBackward0"] == OpFacts(places=(BACK,))
    assert facts["autograd::engine::evaluate_function: AddmmBackward0"] == OpFacts(places=(BACK,))
    assert facts["aten::mm"] == OpFacts(flops=10, places=(BACK,))
    assert "AddBackward0" not in facts


def test_steps_are_told_apart_and_what_lies_outside_of_them_is_left_out():
    calls = [Call("aten::mm", FC1, 10 ** (number + 1), [f"primitive {number}"]) for number in range(3)]
    inside = [
        piece
        for number, start in enumerate((100, 1100, 2100))
        for piece in (mark(number, start, start + 100), event("aten::mm", start + 10, start + 90))
    ]
    first, second = attributed(Joined.of(columns(step(0), step(2), *inside)), calls)
    assert first == {"aten::mm": OpFacts(flops=10, kernels=(("primitive 0", 1),), places=(FC1,))}
    assert second == {"aten::mm": OpFacts(flops=1000, kernels=(("primitive 2", 1),), places=(FC1,))}


def test_a_mark_is_an_annotation_only():
    assert one_step([], event(f"{CALL_MARK}0", 0, 100), event("aten::mm", 10, 20)) == {}
    assert attributed(Joined.of(columns(event("aten::mm", 0, 1))), []) == []


def test_operator_calls_are_told_in_their_order_with_call_and_self_time():
    convolution = Call("aten::convolution", CONV1, 0, [])
    joined = Joined.of(
        columns(
            step(0),
            step(1),
            event("aten::add", 5, 8),
            event("aten::conv2d", 1000, 1100),
            event("aten::convolution", 1005, 1095),  # on its way to the watch
            event("PythonDispatchMode", 1006, 1094),
            mark(0, 1010, 1090),
            event("aten::convolution", 1020, 1080),
            event("aten::empty", 1030, 1040),
            event("aten::sin", 1200, 1210, thread=2),
            event("aten::add", 1150, 1155),
        )
    )
    assert operator_calls(joined, [convolution], 1) == [
        ("aten::conv2d", 0, 10),
        ("PythonDispatchMode", 0, 28),
        ("aten::convolution", 0, 50),
        ("aten::empty", 0, 10),
        ("aten::add", -1, 5),
        ("aten::sin", -1, 10),
    ]
    assert operator_calls(joined, [convolution], 0) == [("aten::add", -1, 3)]
