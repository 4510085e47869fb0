"""Causes that move data, wait, or show in kernels alone; what is told where nothing better is known; several causes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from changes import only, ran, step, told
from records import finding

from pytest_opcost.facts import OpFacts
from pytest_opcost.judge import Kind
from pytest_opcost.judge.causes import causes
from pytest_opcost.judge.exact import exact_findings
from pytest_opcost.judge.words import headline

LINE = "forward net model.py:31"


# Copies, transfers, waiting


def test_a_copy():
    new = step(ran("clone", 3, at=LINE), ran("copy_", 3, at=LINE), ran("empty_like", 3, at=LINE))
    cause = only(step(), new)
    assert (cause.kind, cause.op, cause.line) == ("copy_added", "aten::clone", "model.py:31")
    assert cause.message == "3 copies a step added: aten::clone, in net at model.py:31"
    assert set(cause.explains) == {"aten::clone", "aten::copy_", "aten::empty_like"}
    assert only(step(), step(ran("clone", 1, at=LINE))).message.startswith("a copy a step added")


def test_a_copy_at_several_lines_of_one_module():
    new = step(ran("clone", 2, at="forward net model.py:12; forward net model.py:15"))
    assert only(step(), new).message.endswith("aten::clone, in net at model.py:12, model.py:15")
    new = step(ran("clone", 2, at="forward a model.py:12; forward b model.py:15"))
    assert only(step(), new).message.endswith("aten::clone, in a, b")


def test_a_copy_that_came_with_another_operator_is_that_ones():
    new = step(ran("cumsum", 1, at=LINE), ran("_to_copy", 1, at=LINE))
    assert (only(step(), new).kind, only(step(), new).op) == ("operator_added", "aten::cumsum")


@pytest.mark.parametrize(("syncs", "kind"), [(0, "read_on_host"), (1, "sync_added")])
def test_a_value_read_on_the_host(syncs, kind):
    at = "other  train.py:31"
    new = step(ran("item", at=at), ran("_local_scalar_dense", at=at, syncs=syncs), ran("norm", at=at))
    cause = only(step(), new)
    assert (cause.kind, cause.op, cause.line) == (kind, "aten::item", "train.py:31")
    if syncs:
        assert cause.message.startswith("a device synchronisation per step added, at train.py:31: ")
    else:
        assert cause.message.startswith("a value per step read on the host (.item(), float() or a log): aten::item")


def test_a_value_that_an_operator_reads_itself():
    new = step(ran("std", at=LINE), ran("item", at=LINE), ran("_local_scalar_dense", at=LINE))
    assert only(step(), new).op == "aten::std"


def test_waiting_for_the_device():
    wait = ran("cudaDeviceSynchronize::", 1, at="", syncs=1)
    wait = replace(wait, name="cudaDeviceSynchronize", family="wait")
    cause = only(step(), step(wait))
    assert (cause.kind, cause.op) == ("sync_added", "cudaDeviceSynchronize")
    assert cause.message == "a device synchronisation per step added: cudaDeviceSynchronize"
    nonzero = [ran("nonzero", 1, at=LINE, syncs=n) for n in (1, 3)]
    assert only(*map(step, nonzero)).message.startswith("2 device synchronisations per step added: aten::nonzero")


@pytest.mark.parametrize(
    ("kernels", "kind", "message"),
    [
        ("Memcpy DtoH (Device -> Pageable); Memcpy HtoD (Pageable -> Device)", "host_round_trip",
         "a copy to the host and back a step"),
        ("Memcpy DtoH (Device -> Pageable); Memcpy HtoD (A); Memcpy HtoD (B)", "host_round_trip",
         "a copy to the host and 2 copies back a step"),
        ("Memcpy HtoD (Pageable -> Device)", "transfer_added", "a copy a step from the host to the device"),
        ("Memcpy DtoH (Device -> Pinned)", "transfer_added", "a copy a step from the device to the host"),
    ],
)  # fmt: skip
def test_transfers(kernels, kind, message):
    new = step(ran("copy_", 2, at=LINE, kernels=kernels, syncs=2), ran("_to_copy", 2, at=LINE))
    cause = only(step(), new)
    assert (cause.kind, cause.op) == (kind, "aten::_to_copy")
    assert cause.message.startswith(message)


def test_what_is_built_at_each_step():
    cause = only(step(), step(ran("triu", at=LINE), ran("full", at=LINE), ran("fill_", at=LINE), ran("mul", at=LINE)))
    assert (cause.kind, cause.op) == ("built_each_step", "aten::triu")
    assert cause.message == "a tensor is built anew at each step: aten::triu, aten::full, in net at model.py:31"


# Kernels


def conv(kernels, calls=1):
    return ran("mkldnn_convolution", calls, "f32[4,8,5,5] f32[8,8,3,3]", kernels=kernels, at="forward conv2")


def test_reorders():
    cause = only(step(conv("convolution jit:a")), step(conv("convolution jit:a; reorder jit:blk; reorder jit:blk")))
    assert (cause.kind, cause.op, cause.module) == ("reorders_added", "aten::mkldnn_convolution", "conv2")
    assert cause.message == "2 layout reorders added before aten::mkldnn_convolution, in conv2"


def test_channels_last_lost():
    old, new = step(conv("convolution brg_conv_fwd:a")), step(conv("convolution jit:a; reorder jit:blk"))
    cause = only(old, new)
    assert cause.kind == "channels_last_lost"
    assert "a layout reorder added in aten::mkldnn_convolution, convolution brg_conv_fwd:a became " in cause.message
    pool = [ran("max_pool2d", kernels=kernel) for kernel in ("max_pool_forward_nhwc#1", "max_pool_forward_nchw#2")]
    assert only(*map(step, pool)).kind == "channels_last_lost"


def test_reorders_of_a_convolution_that_was_added_are_no_cause():
    new = step(conv("convolution jit:a; convolution jit:a; reorder jit:blk", calls=2))
    assert only(step(conv("convolution jit:a")), new).kind == "called_more_often"


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        ("gemm_a", "gemm_b", "kernel gemm_a became gemm_b in aten::mm, in fc1"),
        ("gemm_a", "gemm_a; splitk", "aten::mm runs splitk more, in fc1"),
        ("gemm_a; splitk", "gemm_a", "aten::mm no longer runs splitk, in fc1"),
    ],
)
def test_another_kernel(was, now, message):
    ops = [ran("mm", 1, "f32[4,4] f32[4,4]", kernels=kernels, at="forward fc1") for kernels in (was, now)]
    cause = only(*map(step, ops))
    assert (cause.kind, cause.op, cause.message) == ("kernel_changed", "aten::mm", message)


def test_another_backend_is_told_with_what_it_costs():
    old, new = (
        step(ran(name, us=us, at="forward conv1")) for name, us in (("mkldnn_convolution", 4.0), ("thnn_conv2d", 9.0))
    )
    cause = only(old, new)
    assert (cause.kind, cause.op) == ("backend_changed", "aten::thnn_conv2d")
    assert cause.message == "aten::mkldnn_convolution became aten::thnn_conv2d, 9 us a step (was 4 us), in conv1"


# The rest


def test_operators_that_came_and_went_with_what_is_at_their_lines():
    new = step(ran("_softmax", us=90.0, at=LINE), ran("softmax", at=LINE), ran("_softmax_backward_data", at=LINE))
    cause = only(step(), new)
    assert (cause.kind, cause.op) == ("operator_added", "aten::_softmax")
    assert cause.message == "aten::_softmax was added, 1 time a step (was 0), in net at model.py:31"
    assert only(step(ran("gelu", 2)), step()).kind == "operator_gone"
    assert only(step(ran("gelu", 2)), step(ran("gelu", 1))).kind == "called_less_often"


def test_what_a_new_layer_brings_with_it():
    layer, node = ran("addmm", 1, at="forward fc1 model.py:1"), ran("AddmmBackward0", 1, at="backward")
    old = step(layer, node, ran("lerp_", 2, at="optimizer  train.py:9"))
    more = ran("addmm", 2, at="forward fc1 model.py:1; forward fc2 model.py:2")
    new = step(more, node, ran("lerp_", 4, at="optimizer  train.py:9"), ran("relu", 1, at="forward net model.py:2"))
    cause = only(old, new)
    assert (cause.kind, cause.op, cause.module) == ("called_more_often", "aten::addmm", "fc2")


@pytest.mark.parametrize(
    ("was", "now", "kind", "word"),
    [
        (64, 128, "allocation_grew", "doubled"),
        (64, 65, "allocation_grew", "grew"),
        (64, 8, "allocation_shrank", "shrank"),
    ],
)
def test_allocations(was, now, kind, word):
    old, new = (step(ran("relu", at="forward relu1", alloc_bytes=n)) for n in (was, now))
    cause = only(old, new)
    assert (cause.kind, cause.op) == (kind, "aten::relu")
    assert cause.message == f"bytes allocated {word} in aten::relu: {now} B a step (was {was} B), in relu1"


def test_flops_alone():
    assert only(step(ran("mm", flops=2)), step(ran("mm", flops=3))).kind == "flops_changed"


# All of them together


def test_independent_causes_are_told_each():
    new = step(
        ran("clone", at=LINE), ran("item", at="other  train.py:5"), ran("_local_scalar_dense", at="other  train.py:5")
    )
    assert [cause.kind for cause in told(step(), new)] == ["read_on_host", "copy_added"]


def test_nothing_is_told_of_what_does_not_fail():
    assert causes(step(), step(), ()) == ()
    assert causes(step(), step(ran("clone")), ()) == ()
    assert causes(step(), step(), [finding(Kind.CHEAPER)]) == ()
    assert told(step(ran("view", 1)), step(ran("reshape", 1))) == ()


@pytest.mark.parametrize(
    ("moved", "op", "words"),
    [
        ([(Kind.RATIO, "a/b", -0.5), (Kind.DEARER, "aten::mm", 0.018)], "aten::mm", "1.8 % more time in aten::mm"),
        ([(Kind.DEARER, "aten::mm", 0.1), (Kind.DEARER, "aten::bmm", 0.2)], "aten::bmm", "20 % more time in aten::bmm"),
        ([(Kind.RATIO, "conv/addmm", -0.5)], "conv/addmm", "conv/addmm -50 %"),
    ],
)  # fmt: skip
def test_what_only_costs_more(moved, op, words):
    findings = [finding(kind, name, change) for kind, name, change in moved]
    (cause,) = causes(step(), step(), findings)
    assert (cause.kind, cause.op) == ("time_only", op)
    assert cause.message == f"no exact difference: same operators, same kernels, {words}"
    assert set(cause.explains) == {name for _, name, _ in moved}


@pytest.mark.parametrize(("us", "kinds"), [(8.0, ["time_only", "called_less_often"]), (12.0, ["called_less_often"])])
def test_what_costs_more_comes_first_where_what_differs_costs_less(us, kinds):
    """`pow` with an odd exponent takes 15 times as long, and saves a copy."""
    old = step(ran("copy_", 3, us=10.0), ran("pow", at="forward net model.py:7", us=1.0))
    new = step(ran("copy_", 2, us=us), ran("pow", at="forward net model.py:7", us=15.0))
    kinds = [*kinds, *{"time_only"} - {*kinds}]
    findings = [*exact_findings(old, new), finding(Kind.DEARER, "aten::pow", 14.0, baseline=1.0, current=15.0)]

    found = causes(old, new, findings)

    assert [one.kind for one in found] == kinds
    timed = found[kinds.index("time_only")]
    where = "in net at model.py:7, with no exact difference there"
    assert timed.message == f"15 times the time in aten::pow, {where}"
    first = headline(findings, found)
    assert first.startswith("aten::pow 15 times" if kinds[0] == "time_only" else "aten::copy_ 2 calls a step (was 3)")


def test_what_a_setting_may_have_made_dearer_comes_behind_it():
    old, new = (step(ran("mm"), ran("copy_", 1, us=us), deterministic=on) for us, on in ((9.0, "off"), (8.0, "on")))
    findings = [*exact_findings(old, new), finding(Kind.DEARER, "aten::mm", 2.0, baseline=1.0, current=3.0)]
    assert [one.kind for one in causes(old, new, findings)] == ["deterministic_on", "time_only"]


def test_profiles_without_facts_have_causes_too():
    bare = [replace(one, facts=None) for one in (ran("mm"), ran("clone"))]
    assert [cause.kind for cause in told(step(bare[0]), step(*bare))] == ["copy_added"]


def test_digests_of_inputs_are_no_inputs():
    old = step(replace(ran("mm"), facts=OpFacts(inputs=(("#12345678", 2),))))
    assert only(old, step(ran("mm", 1, "f32[4,4] f32[4,5]"))).kind == "inputs_changed"
