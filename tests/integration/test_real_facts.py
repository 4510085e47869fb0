"""The exact facts of small models, measured with torch's own profiler and dispatcher on the CPU."""

from __future__ import annotations

import threading

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch._C._autograd import _KinetoEvent
from torch.utils.flop_counter import FlopCounterMode

from pytest_opcost.measure import Plan, measure
from pytest_opcost.measure.compat import _every_thread
from pytest_opcost.measure.events import recorded, step_mark
from pytest_opcost.measure.exact.recording import allocations_of_steps
from pytest_opcost.workloads.models import LeNet, build
from pytest_opcost.workloads.steps import inference_step, training_step

IMAGES, LABELS = torch.ones(4, 1, 28, 28), torch.zeros(4, dtype=torch.int64)
X = torch.ones(4, 4)


def measured(step):
    """The operators of a step by name, and the profile."""
    profile = measure(step, Plan("cpu", 1, 3))
    return profile.by_name(), profile


def facts(step):
    return {name: op.facts for name, op in measured(step)[0].items()}


def lenet(kind="infer", model_class=LeNet):
    model = build(model_class, "cpu")
    return training_step(model, IMAGES, LABELS) if kind == "train" else inference_step(model, IMAGES)


def encoder():
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    words = torch.ones(2, 5, 32)
    return lambda: layer(words).sum().backward()


def test_inputs_have_shapes_and_element_types():
    half, index = X.bfloat16(), torch.tensor([1, 2])
    seen = facts(
        lambda: (
            X @ X,
            half @ half,
            half[index],
            torch.cat([X, X]),
            torch.cat([X] * 6),
            X.double() + 1,
            X.to(torch.int8),
        )
    )
    assert dict(seen["aten::mm"].inputs) == {"bf16[4,4] bf16[4,4]": 1, "f32[4,4] f32[4,4]": 1}
    assert seen["aten::index"].inputs[0][0].startswith("bf16[4,4]")
    assert seen["aten::add"].inputs[0][0].startswith("f64[4,4]")
    if hasattr(_KinetoEvent, "structured_input_shapes"):  # older versions of torch tell nothing of lists
        short, long = sorted((name for name, _ in seen["aten::cat"].inputs), key=len)
        assert short == "([4,4] [4,4])"
        assert long.startswith("([4,4] [4,4] and 4 more, #")


def test_inputs_of_lenet():
    seen = facts(lenet())
    assert dict(seen["aten::addmm"].inputs) == {
        "f32[10] f32[4,128] f32[128,10]": 1,
        "f32[128] f32[4,9216] f32[9216,128]": 1,
    }
    assert seen["aten::max_pool2d_with_indices"].inputs == (("f32[4,64,24,24]", 1),)
    assert seen["aten::empty"].inputs == ()


def inference_mode():
    step = lenet()

    @torch.inference_mode()
    def inside():
        step()

    return inside


@pytest.mark.parametrize(
    "make",
    [lenet, lambda: lenet("train"), encoder, inference_mode],
    ids=["infer", "train", "encoder", "inference_mode"],
)
def test_flops_are_those_of_torchs_own_counter(make):
    step = make()
    _, profile = measured(step)
    with FlopCounterMode(display=False) as counter:
        step()
    expected = counter.get_total_flops()
    if make is inference_mode and not expected:
        # torch 2.4's counter counts nothing there; ours counts what it does outside.
        with FlopCounterMode(display=False) as counter:
            lenet()()
        expected = counter.get_total_flops()
    assert profile.flops == expected > 0


def test_the_ratio_of_lenets_flops():
    flops = {op.family: op.facts.flops for op in measured(lenet())[0].values() if op.facts.flops}
    assert flops.keys() == {"conv", "addmm"}
    assert flops["conv"] / flops["addmm"] == pytest.approx(9.155, abs=0.0005)


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="needs oneDNN")
def test_kernels_of_a_convolution_are_onednns_implementations():
    seen = facts(lenet("train"))
    for name in ("aten::mkldnn_convolution", "aten::convolution_backward"):
        assert any(kernel.startswith("convolution ") and len(kernel.split()) == 2 for kernel, _ in seen[name].kernels)
    counts = dict(seen["aten::mkldnn_convolution"].kernels)
    assert sum(count for kernel, count in counts.items() if kernel.startswith("convolution ")) == 2
    assert seen["aten::convolution"].kernels == ()


@pytest.mark.skipif(not torch.backends.mkl.is_available(), reason="needs MKL")
def test_kernels_of_a_product_are_mkls_routines():
    large = torch.ones(64, 64)
    assert facts(lambda: large @ large)["aten::mm"].kernels == (("mkl sgemm", 1),)


def test_an_allocation_is_the_allocating_operators():
    seen = facts(lambda: torch.add(X, X).abs_())
    assert (seen["aten::add"].alloc_bytes, seen["aten::abs_"].alloc_bytes) == (64, 0)
    assert facts(lambda: torch.empty(1000, dtype=torch.float64))["aten::empty"].alloc_bytes == 8000


@pytest.mark.parametrize(
    "make", [encoder, lambda: lenet("train"), lambda: adds_gradients], ids=["encoder", "lenet", "add"]
)
def test_allocations_are_those_of_the_step_that_nobody_watches(make, one_thread):
    step = make()
    step()
    with recorded(None, allocations=True) as events, step_mark():
        step()
    (own,) = allocations_of_steps(events[0])
    watched = {name: one.alloc_bytes for name, one in facts(step).items() if one.alloc_bytes}
    assert watched == {name: one.alloc_bytes for name, one in own.items() if one.alloc_bytes}


@pytest.fixture
def one_thread():
    """As measured: the scratch memory of oneDNN depends on it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


WEIGHT = torch.ones(100, 100, requires_grad=True)


def adds_gradients():
    """Three gradients are added up: in place, unless a dispatch mode is on."""
    out = WEIGHT * 2
    (out.sin() + out.cos() + out.exp()).sum().backward()


@pytest.mark.parametrize("make", [encoder, lambda: lenet("train"), lenet, inference_mode, lambda: adds_gradients])
def test_looking_for_facts_changes_no_calls_and_finds_those_of_every_operator(make):
    for op in measure(make(), Plan("cpu", 1, 3)).ops:
        assert not op.varying
        assert op.facts is not None
        assert sum(count for _, count in op.facts.inputs) <= op.calls
        assert op.facts.varying == ()


def test_what_differs_between_two_steps_varies():
    sizes = iter([4, 5] * 50)

    def step():
        size = next(sizes)
        return torch.ones(size, size) @ torch.ones(size, size), torch.cos(X)

    seen = facts(step)
    assert seen["aten::mm"].varying == ("inputs", "flops", "alloc_bytes")
    assert dict(seen["aten::mm"].inputs) == {"f32[4,4] f32[4,4]": 1, "f32[5,5] f32[5,5]": 1}
    assert seen["aten::cos"].varying == ()


@pytest.mark.skipif(_every_thread() is None, reason="this torch records no other threads")
def test_operators_of_a_thread_that_the_step_starts_are_seen():
    def step():
        thread = threading.Thread(target=lambda: X @ X)
        thread.start()
        thread.join()

    ops, _ = measured(step)
    assert ops["aten::mm"].calls == 1
    assert ops["aten::mm"].facts.inputs == (("f32[4,4] f32[4,4]", 1),)
    assert ops["aten::mm"].facts.places == ()


def test_nodes_of_autograd_are_those_that_a_step_makes():
    layer = nn.Linear(4, 4)

    def step():
        (layer(X).relu() * 2).sum()

    def without():
        with torch.no_grad():
            step()

    # t and addmm (or linear), relu, mul and sum
    assert measured(step)[1].autograd_nodes == 5
    assert measured(without)[1].autograd_nodes == 0


def test_nodes_of_autograd_that_vary_are_none():
    sizes = iter([1, 2] * 50)

    def step():
        weight = WEIGHT
        for _ in range(next(sizes)):
            weight = weight * 2

    assert measured(step)[1].autograd_nodes is None
