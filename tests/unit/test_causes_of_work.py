"""Causes that are more work or other work: sizes, repetition, fused operators split, the optimizer."""

from __future__ import annotations

import pytest
from changes import only, ran, step, told

NODE = ran("AddmmBackward0", 1, at="backward")


def layer(width, x="f32[64,256]", out=10):
    return ran("addmm", 1, f"f32[{width}] {x} f32[256,{width}]", at="forward fc1 model.py:3", flops=64 * 256 * width)


# Sizes


def test_a_layer_is_resized_where_what_it_takes_is_the_same():
    follows = [ran("relu", 1, f"f32[64,{width}]", us=99.0) for width in (512, 513)]
    cause = only(step(layer(512), follows[0]), step(layer(513), follows[1]))
    assert (cause.kind, cause.op, cause.module) == ("layer_resized", "aten::addmm", "fc1")
    assert cause.message.startswith("a layer was resized: weights [256,512] -> [256,513] in aten::addmm")
    assert "FLOPs" not in cause.message
    assert ", 2 times the FLOPs" in only(step(layer(512)), step(layer(1024))).message


def test_a_layer_beside_others_that_stay_is_not_told_from_them():
    """Which of the operator's modules takes which inputs is not known, so none of them is blamed by itself."""
    kept = "f32[512] f32[8,256] f32[256,512]"
    old, new = (
        step(ran("addmm", 2, f"{kept}; f32[{n}] f32[8,512] f32[512,{n}]", flops=n, at="forward qkv; forward fc1"))
        for n in (256, 384)
    )
    cause = only(old, new)
    assert (cause.kind, cause.module) == ("layer_resized", "")
    assert cause.message.endswith(", in one or more of qkv, fc1")


@pytest.mark.parametrize(("was", "now", "kind"), [(1, 32, "groups_dropped"), (32, 1, "groups_added")])
def test_groups(was, now, kind):
    old, new = (ran("cudnn_convolution", 1, f"f32[8,32,28,28] f32[32,{n},3,3]", flops=n * 100) for n in (was, now))
    cause = only(step(old), step(new))
    assert (cause.kind, cause.op) == (kind, "aten::cudnn_convolution")
    assert f"{32 // was} groups became {32 // now} in" in cause.message


def test_other_kernel_sizes_and_channels_are_a_resized_layer():
    old, new = (ran("mkldnn_convolution", 1, f"f32[8,32,28,28] f32[{n},32,3,3]") for n in (32, 64))
    assert only(step(old), step(new)).kind == "layer_resized"


@pytest.mark.parametrize(("was", "now", "word"), [(26, 30, "grew"), (26, 13, "shrank")])
def test_a_larger_output_is_padding_or_stride_of_the_convolution_that_takes_the_same(was, now, word):
    first = "f32[16,1,28,28] f32[32,1,3,3]"
    old, new = (
        step(
            ran("mkldnn_convolution", 2, f"{first}; f32[16,32,{n},{n}] f32[64,32,3,3]", flops=n, at="forward conv1"),
            ran("relu", 2, f"f32[16,32,{n},{n}]"),
        )
        for n in (was, now)
    )
    cause = only(old, new)
    assert (cause.kind, cause.op) == (f"output_{word}", "aten::mkldnn_convolution")
    assert f"the output {was}x{was} -> {now}x{now} of weights [32,1,3,3]" in cause.message


def test_another_batch_size():
    old, new = (step(ran("addmm", 1, f"f32[10] f32[{n},8] f32[8,10]", flops=n)) for n in (16, 17))
    cause = only(old, new)
    assert (cause.kind, cause.op) == ("batch_changed", "aten::addmm")
    assert cause.message.startswith("another batch size: 16 became 17: aten::addmm, 1.06 times the FLOPs")


def test_another_batch_size_explains_another_backend_and_names_it():
    ops = [
        ran(name, 1, f"f32[{n},1,28,28] f32[32,1,3,3]", flops=n)
        for n, name in ((2, "mkldnn_convolution"), (1, "_slow_conv2d_forward"))
    ]
    old, new = (step(conv, ran("relu", 1, f"f32[{n},32,26,26]")) for n, conv in zip((2, 1), ops))
    cause = only(old, new)
    assert (cause.kind, cause.op) == ("batch_changed", "aten::_slow_conv2d_forward")
    assert "2 became 1: aten::_slow_conv2d_forward runs now" in cause.message


def test_another_length_is_told_from_another_batch_by_what_has_both():
    old, new = (
        step(ran("addmm", 1, f"f32[64] f32[{8 * n},64] f32[64,64]"), ran("native_layer_norm", 1, f"f32[8,{n},64]"))
        for n in (64, 65)
    )
    cause = only(old, new)
    assert cause.kind == "input_resized"
    assert "64 became 65" in cause.message


# Repetition


def often(calls, size, at="forward net model.py:5"):
    return [
        ran(name, calls, "; ".join([f"f32[{size},8]"] * calls), at=at)
        for name in ("relu", "_log_softmax", "max_pool2d_with_indices")
    ]


def test_a_loop_over_the_batch():
    cause = only(step(*often(1, 16)), step(*often(16, 1)))
    assert cause.kind == "called_more_often"
    assert cause.message.startswith("called 16 times instead of once: a loop over the batch? aten::")


def test_a_loop_over_the_batch_around_a_part_of_the_model():
    """Two of three layers take an eighth of the batch, eight times; the third takes it whole as before."""
    layers = ["f32[{}] f32[512,128] f32[128,{}]".format(*[n] * 2) for n in (384, 200)]
    inputs = ["f32[512] f32[{n},128] f32[128,512]", "f32[128] f32[{n},512] f32[512,128]"]
    at = "; ".join(f"forward {name}" for name in ("qkv", "up", "down", "head"))

    def linear(parts):
        looped = [one.format(n=512 // parts) for one in inputs for _ in range(parts)]
        return ran("addmm", 2 + 2 * parts, "; ".join([*layers, *looped]), at=at)

    def others(parts):
        gelu = ran("gelu", parts, "; ".join([f"f32[{8 // parts},64,512]"] * parts))
        return gelu, ran("softmax", 2, "f32[8,4,64,64]; f32[8,4,64,64]"), ran("tanh", 2, "f32[8,64]; f32[8,64]")

    cause = only(step(linear(1), *others(1)), step(linear(8), *others(8)))
    assert (cause.kind, cause.op) == ("called_more_often", "aten::addmm")
    assert cause.message == (
        "a part of the model runs 8 times, on a part of the batch each: a loop over the batch? aten::addmm is called "
        "18 times a step (was 4), in one or more of qkv, up, down and 1 more"
    )


def test_more_calls_on_all_of_the_batch_are_no_loop_over_it():
    old, new = (step(ran("addmm", n, "; ".join(["f32[10] f32[16,8] f32[8,10]"] * n))) for n in (1, 2))
    assert not any("loop" in cause.message for cause in told(old, new))


def test_places_beyond_those_that_a_baseline_keeps_are_not_new():
    at = [f"forward fc{number}" for number in range(8)]
    old = ran("addmm", 8, "; ".join(["f32[10] f32[16,8] f32[8,10]"] * 8), at="; ".join(at[:6]))
    new = ran("addmm", 9, "; ".join(["f32[10] f32[16,8] f32[8,10]"] * 9), at="; ".join(at))
    assert "in fc0, fc1, fc2 and 5 more" in only(step(old), step(new)).message
    # What this run measured on both sides is known in full.
    old = ran("addmm", 8, "; ".join(["f32[10] f32[16,8] f32[8,10]"] * 8), at="; ".join(at[:7]))
    cause = only(step(old), step(new))
    assert (cause.module, cause.message.endswith(", in fc7")) == ("fc7", True)
    cause = only(step(new), step(old))
    assert (cause.module, cause.message.endswith(", in fc7")) == ("fc7", True)


def test_sums_of_gradients_follow_from_a_new_layer():
    """Where gradients are not set to none, those of its weight and its bias are added."""

    def layers(count, other=0):
        line = "forward net model.py:3; forward fc1 model.py:4"
        return step(
            ran("mkldnn_convolution", count, at=line if count > 1 else "forward net model.py:3", flops=count),
            ran("torch::autograd::AccumulateGrad", 2 * count, at=""),
            ran("add_", 2 * count + other, at="", us=5.0),
        )

    assert only(layers(1), layers(2)).message.endswith(", in fc1 at model.py:4")
    assert [one.op for one in told(layers(1), layers(2, 1))] == ["aten::mkldnn_convolution", "aten::add_"]


def test_the_model_run_twice():
    cause = only(step(*often(1, 16)), step(*often(2, 16)))
    assert (cause.kind, "the model run again?" in cause.message) == ("called_more_often", True)


def test_two_operators_called_more_often_are_no_repetition():
    causes = told(step(*often(1, 16)[:2]), step(*often(2, 16)[:2]))
    assert not any("instead of once" in cause.message for cause in causes)


def test_a_forward_recomputed_in_the_backward():
    cause = only(
        step(NODE, *often(1, 16)), step(NODE, *often(2, 16, "forward net model.py:5; backward net model.py:5"))
    )
    assert cause.kind == "recomputed_in_backward"
    assert "(activation checkpointing)" in cause.message


# Fused operators


@pytest.mark.parametrize(
    ("fused", "parts"),
    [
        ("scaled_dot_product_attention", ("bmm", "_softmax")),
        ("_cudnn_rnn", ("addmm", "sigmoid_")),
        ("addmm", ("mm", "mul")),
        ("native_layer_norm", ("mean", "rsqrt")),
    ],
)
def test_a_fused_operator_was_split(fused, parts):
    at = "forward block model.py:4"
    new = [ran(part, 2, at=at) for part in (*parts, "clone", "transpose")]
    cause = only(step(ran(fused, at="forward block")), step(*new))
    assert (cause.kind, cause.op, cause.module) == ("fused_split", f"aten::{fused}", "block")
    assert cause.message.startswith(f"a fused operator was split: aten::{fused} -> aten::{parts[0]}")


def test_a_fused_operator_that_is_gone_without_its_parts_is_only_gone():
    assert only(step(ran("scaled_dot_product_attention")), step()).kind == "operator_gone"


@pytest.mark.parametrize(
    ("was", "now", "kind"), [("relu_", "relu", "in_place_lost"), ("relu", "relu_", "in_place_gained")]
)
def test_in_place(was, now, kind):
    cause = only(step(ran(was, 3)), step(ran(now, 3, alloc_bytes=4000 if now == "relu" else 0)))
    assert (cause.kind, cause.op) == (kind, f"aten::{now}")
    assert cause.message.startswith(f"aten::{was} became aten::{now}: ")
    assert ("4 kB more allocated" in cause.message) == (now == "relu")


# The optimizer


OPTIMIZER = "optimizer  train.py:9"


def test_an_optimizer_that_no_longer_runs_foreach():
    many = [ran(f"_foreach_{name}_", 1, at=OPTIMIZER, us=50.0) for name in ("addcmul", "lerp")]
    single = [ran(f"{name}_", 6, at=OPTIMIZER) for name in ("addcmul", "lerp")]
    cause = only(step(*many), step(*single, ran("item", 6, at=OPTIMIZER)))
    assert (cause.kind, cause.op) == ("foreach_off", "aten::_foreach_addcmul_")
    assert "no longer runs foreach: aten::_foreach_addcmul_ and 1 more are gone" in cause.message


def test_an_optimizer_that_no_longer_runs_fused():
    old = step(ran("_fused_adam_", 1, at=OPTIMIZER))
    for name in ("_foreach_lerp_", "lerp_"):
        assert only(old, step(ran(name, 6, at=OPTIMIZER))).kind == "fused_off"


def test_another_optimizer():
    cause = only(step(), step(ran("sqrt", 6, at=OPTIMIZER), ran("item", 6, at=OPTIMIZER)))
    assert (cause.kind, cause.op) == ("optimizer_changed", "aten::sqrt")
    assert cause.message == "the optimizer runs aten::sqrt, at train.py:9"


def test_gradients_that_are_set_to_zero():
    old = step(ran("add_", 6, at="backward"), ran("detach", 6, at="backward"))
    new = step(ran("add_", 12, at="backward"), ran("_foreach_zero_", 1, at="other  train.py:3"))
    cause = only(old, new)
    assert (cause.kind, cause.op) == ("gradients_zeroed", "aten::_foreach_zero_")
    assert "(zero_grad(set_to_none=False)): 6 additions and aten::_foreach_zero_ added" in cause.message


def test_zeros_alone_are_no_gradients():
    assert only(step(), step(ran("zero_", 1, at="forward net a.py:1"))).kind == "operator_added"


def test_a_dense_gradient():
    old, new = (step(ran(f"embedding_{kind}_backward", at="backward embedding")) for kind in ("sparse", "dense"))
    cause = only(old, new)
    assert (cause.kind, cause.op) == ("dense_gradient", "aten::embedding_dense_backward")
    assert only(new, old).kind == "backend_changed"
