"""Causes that are switches: settings of torch, element types, autograd, dropout, batch normalisation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from changes import only, ran, step, told

CONV = ran("mkldnn_convolution", 2, "f32[16,1,28,28] f32[32,1,3,3]", us=400.0, flops=900)
SLOW = ran("_slow_conv2d_forward", 2, "f32[16,1,28,28] f32[32,1,3,3]", us=900.0, flops=900)
NODE = ran("AddmmBackward0", 1, at="backward")


@pytest.mark.parametrize(
    ("name", "was", "now", "kind", "message"),
    [
        ("mkldnn", "on", "off", "onednn_off", "oneDNN off"),
        ("deterministic", "off", "on", "deterministic_on", "deterministic mode on"),
        ("cudnn_benchmark", "off", "on", "cudnn_benchmark_on", "cuDNN's benchmark mode on"),
        ("threads", "1", "2", "threads_changed", "2 threads instead of 1: the step sets them itself"),
        ("autocast", "bfloat16", "off", "autocast_lost", "autocast lost: bfloat16 -> off"),
        ("autocast", "off", "float16", "autocast_on", "autocast on: float16"),
        ("default_dtype", "f32", "f64", "setting_changed", "the setting default_dtype is f64 (was f32)"),
    ],
)
def test_a_setting(name, was, now, kind, message):
    cause = only(step(CONV, **{name: was}), step(CONV, **{name: now}))
    assert (cause.kind, cause.op, cause.message, cause.explains) == (kind, name, message, (name,))


def test_a_setting_names_the_operator_that_it_changed_and_explains_it():
    cause = only(step(CONV, mkldnn="on"), step(SLOW, mkldnn="off"))
    assert cause.message == "oneDNN off: aten::mkldnn_convolution became aten::_slow_conv2d_forward"
    assert set(cause.explains) == {"mkldnn", "aten::mkldnn_convolution", "aten::_slow_conv2d_forward"}


def test_a_setting_does_not_explain_what_it_cannot_reach():
    new = step(SLOW, ran("gelu", at="forward net model.py:5"), mkldnn="off")
    assert [cause.kind for cause in told(step(CONV, mkldnn="on"), new)] == ["onednn_off"]
    new = step(CONV, ran("gelu", at="forward net model.py:5"), cudnn_benchmark="on")
    kinds = [cause.kind for cause in told(step(CONV, cudnn_benchmark="off"), new)]
    assert kinds == ["cudnn_benchmark_on", "operator_added"]


def test_all_settings_of_tf32_are_one_cause():
    old = {"cudnn_tf32": "on", "float32_matmul_precision": "high", "matmul_tf32": "on"}
    new = {"cudnn_tf32": "off", "float32_matmul_precision": "highest", "matmul_tf32": "off"}
    before, after = (on_cuda(step(CONV, **settings)) for settings in (old, new))
    off = only(before, after)
    assert (off.kind, off.op) == ("tf32_off", "cudnn_tf32")
    assert off.message == (
        "TF32 off: cudnn_tf32 on -> off, float32_matmul_precision high -> highest, matmul_tf32 on -> off"
    )
    assert set(off.explains) == old.keys()
    assert only(after, before).kind == "tf32_on"
    assert only(step(CONV, **new), step(CONV, **old)).kind == "float32_precision_on"


def on_cuda(profile):
    return replace(profile, environment=replace(profile.environment, device="cuda"))


# Element types


def test_float64_starts_where_float32_meets_it():
    old = step(ran("sub", 1, "f32[64,10] f32[64,10]"), ran("pow", 1, "f32[64,10]", us=50.0))
    new = step(
        ran("sub", 1, "f32[64,10] f64[64,10]", at="forward net model.py:7"), ran("pow", 1, "f64[64,10]", us=50.0)
    )
    cause = only(old, new)
    assert (cause.kind, cause.op, cause.line) == ("float64", "aten::sub", "model.py:7")
    assert cause.message.startswith("float64 by accident: aten::sub takes float32 and float64, took float32")


def test_float64_everywhere_starts_where_most_is_computed():
    old = step(ran("addmm", 1, "f32[10] f32[4,8] f32[8,10]", flops=640), ran("relu", 1, "f32[4,10]", us=99.0))
    new = step(ran("addmm", 1, "f64[10] f64[4,8] f64[8,10]", flops=640), ran("relu", 1, "f64[4,10]", us=99.0))
    cause = only(old, new)
    assert (cause.kind, cause.op) == ("float64", "aten::addmm")
    assert "aten::addmm takes float64, took float32" in cause.message


def test_numbers_in_float64_are_none_by_accident():
    old, new = step(ran("mul", 1, "f32[4]")), step(ran("mul", 1, "f32[4] f64[]"))
    assert only(old, new).kind == "inputs_changed"


@pytest.mark.parametrize(("casts", "kind"), [(4, "autocast_lost"), (0, "half_lost")])
def test_half_precision_lost(casts, kind):
    cast = [ran("_to_copy", casts, "f32[4,8]")] if casts else []
    old = step(ran("addmm", 1, "bf16[10] bf16[4,8] bf16[8,10]", flops=640), *cast)
    new = step(ran("addmm", 1, "f32[10] f32[4,8] f32[8,10]", flops=640))
    cause = only(old, new)
    assert (cause.kind, cause.op) == (kind, "aten::addmm")
    assert "lost: bfloat16 -> float32 in aten::addmm" in cause.message
    assert [cause.kind for cause in told(new, old)] == ["half_on"]


# Modes


@pytest.mark.parametrize(
    ("was", "now", "kind", "message"),
    [
        (0, 12, "autograd_on", "autograd is on, 12 nodes a step: torch.no_grad() is missing"),
        (0, 1, "autograd_on", "autograd is on, a node a step: torch.no_grad() is missing"),
        (12, 0, "autograd_off", "autograd is off, it made 12 nodes a step"),
        (9, 17, "autograd_changed", "autograd makes 17 nodes a step (was 9): a torch.no_grad() came or went"),
    ],
)
def test_autograd(was, now, kind, message):
    cause = only(step(CONV, nodes=was), step(CONV, nodes=now))
    assert (cause.kind, cause.message, cause.op) == (kind, message, "autograd")


def test_autograd_explains_a_fast_path_that_is_gone():
    old = step(ran("_transformer_encoder_layer_fwd"), nodes=0)
    new = step(ran("addmm", 4, "f32[4] f32[4,4] f32[4,4]"), ran("native_layer_norm", 2), nodes=41)
    cause = only(old, new)
    assert cause.kind == "autograd_on"
    assert cause.message.endswith("without it there was aten::_transformer_encoder_layer_fwd")


@pytest.mark.parametrize(
    ("more", "kind"), [([], "dropout_on"), ([NODE], "dropout_added")], ids=["inference", "training"]
)
@pytest.mark.parametrize("name", ["bernoulli_", "native_dropout"])
def test_dropout(name, more, kind):
    line = "forward drop model.py:8"
    new = step(*more, ran(name, at=line), ran("div_", at=line), ran("empty_like", at=line))
    cause = only(step(*more), new)
    assert (cause.kind, cause.op, cause.module, cause.line) == (kind, f"aten::{name}", "drop", "model.py:8")


def test_dropout_that_draws_more_is_not_dropout_that_was_switched_on():
    assert only(step(ran("bernoulli_", 1)), step(ran("bernoulli_", 2))).kind == "called_more_often"


def test_batch_normalisation_in_training_counts_its_batches():
    norm = ran("native_batch_norm", 2, "f32[4,8,5,5]", us=70.0)
    cause = only(step(norm), step(norm, ran("add_", 2, "i64[]; i64[]", at="forward bn1; forward bn2")))
    assert (cause.kind, cause.op) == ("batch_norm_in_training", "aten::native_batch_norm")
    assert cause.message.endswith("in an inference step: aten::native_batch_norm, in bn1, bn2")
    assert only(step(norm), step(norm, ran("add_", 2, "f32[4]"))).kind == "operator_added"


def test_anomaly_detection():
    new = step(NODE, ran("isnan", 9, at="backward"), ran("any", 9, at="backward"), ran("item", 9, at="backward"))
    cause = only(step(NODE), new)
    assert (cause.kind, cause.op) == ("anomaly_detection", "aten::isnan")
    assert only(step(), step(ran("isnan", 1, at="forward net a.py:1"))).kind == "operator_added"
