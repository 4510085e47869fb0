"""Against another torch: what only has another name is told, its time decides; what nothing took the place of fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("numpy")

from changes import ran, step
from judging import rounds

from pytest_opcost.judge import Kind, Outcome, Reference, Rules, causes, judge
from pytest_opcost.judge.upgrade import across
from pytest_opcost.merging import merged


def conv(name, us=4_000.0, calls=2, at="forward conv1; forward conv2", **facts):
    return ran(name, calls, us=us, at=at, **facts)


#: What is around the operators at hand, so that a machine's factor can be told.
REST = (
    ran("addmm", 2, us=2_000.0, at="forward fc"),
    ran("max_pool2d_with_indices", us=1_500.0, at="forward net"),
    ran("_log_softmax", us=1_500.0, at="forward net"),
    ran("gelu", us=1_000.0, at="forward net"),
)
OLD = step(conv("mkldnn_convolution"), *REST)


def verdict(new, old=OLD, *, other_torch=True, **rules):
    known = Reference(merged(rounds(old, 6, 1)), (6,), paired=True, other_torch=other_torch)
    return judge(known, rounds(new, 6, 2), Rules({}, **rules))


def told(found):
    return [(one.kind, one.op.removeprefix("aten::"), one.fails) for one in found.findings]


def test_another_name_for_the_same_work_is_told_and_passes():
    found = verdict(step(conv("cudnn_convolution"), *REST))
    assert (found.outcome, told(found)) == (Outcome.PASSED, [(Kind.BACKEND, "cudnn_convolution", False)])
    assert found.findings[0].message == "conv now runs as aten::cudnn_convolution (was aten::mkldnn_convolution)"
    assert dict(found.seen).keys() >= {"aten::cudnn_convolution"}


def test_between_commits_it_fails():
    found = verdict(step(conv("cudnn_convolution"), *REST), other_torch=False)
    assert told(found) == [(Kind.BACKEND, "cudnn_convolution", True)]


def test_a_renamed_operator_that_is_dearer_fails_for_that_and_says_what_it_was():
    new = step(conv("cudnn_convolution", 6_000.0), *REST)
    found = verdict(new)
    assert told(found) == [(Kind.DEARER, "cudnn_convolution", True), (Kind.BACKEND, "cudnn_convolution", False)]
    assert found.failing[0].change == pytest.approx(0.5, abs=0.05)
    (cause,) = causes(OLD, new, found.findings)
    assert cause.kind == "backend_changed"
    assert cause.message.startswith("aten::mkldnn_convolution became aten::cudnn_convolution, 6,000 us a step (was 4,0")


def test_a_renamed_operator_that_is_cheaper_is_told_or_fails():
    new = step(conv("cudnn_convolution", 2_000.0), *REST)
    assert (Kind.CHEAPER, "cudnn_convolution", False) in told(verdict(new))
    assert [one.kind for one in verdict(new, cheaper_fails=True).failing] == [Kind.CHEAPER]


def test_one_that_runs_as_two_now_costs_what_both_do():
    def split(us):
        return step(
            conv("slow_conv2d", us, at="forward conv1"), conv("conv_depthwise2d", us, at="forward conv2"), *REST
        )

    assert verdict(split(2_000.0)).outcome is Outcome.PASSED
    (finding,) = verdict(split(3_000.0)).failing
    assert (finding.kind, finding.family) == (Kind.DEARER, "conv")
    assert finding.current == pytest.approx(6_000, rel=0.05)


def test_calls_that_one_took_over_from_another_are_judged_together():
    def shared(first, second, us):
        return step(conv("mkldnn_convolution", us / 2, first), conv("slow_conv2d", us / 2, second), *REST)

    old = shared(3, 1, 4_000.0)
    passing = verdict(shared(1, 3, 4_000.0), old)
    assert told(passing) == [(Kind.BACKEND, "slow_conv2d", False)]
    assert passing.findings[0].message == "conv now runs as aten::slow_conv2d (was aten::mkldnn_convolution)"
    assert [one.kind for one in verdict(shared(1, 3, 6_000.0), old).failing] == [Kind.DEARER]


def test_what_nothing_took_the_place_of_fails():
    found = verdict(step(conv("mkldnn_convolution"), ran("clone", us=9.0), *REST))
    assert told(found) == [(Kind.NEW, "clone", True)]


def test_what_went_is_told_as_cheaper_is():
    old = step(conv("mkldnn_convolution"), ran("clone", us=9.0), ran("copy_", 3, us=9.0), *REST)
    new = step(conv("mkldnn_convolution"), ran("copy_", 2, us=9.0), *REST)
    assert told(verdict(new, old)) == [(Kind.GONE, "clone", False), (Kind.CALLS, "copy_", False)]
    assert [one.fails for one in verdict(new, old, cheaper_fails=True).findings] == [True, True]
    assert [one.op for one in verdict(old, new).failing] == ["aten::clone", "aten::copy_"]


@pytest.mark.parametrize("name", ["empty", "zeros", "fill_", "ReluBackward0"])
def test_how_often_torch_prepares_is_told(name):
    few, many = (step(conv("mkldnn_convolution"), ran(name, calls, us=9.0), *REST) for calls in (2, 5))
    found = verdict(many, few)
    assert (found.outcome, [one.kind for one in found.findings]) == (Outcome.PASSED, [Kind.CALLS])
    assert verdict(many, few, other_torch=False).failing


def test_other_kernels_are_told_and_the_operator_s_time_still_decides():
    old = step(conv("mkldnn_convolution", kernels="jit:avx2; jit:avx2"), *REST)

    def new(us):
        return step(conv("mkldnn_convolution", us, kernels="brg:avx512; brg:avx512"), *REST)

    assert told(verdict(new(4_000.0), old)) == [(Kind.KERNELS, "mkldnn_convolution", False)]
    dearer = verdict(new(6_000.0), old)
    assert told(dearer)[0] == (Kind.DEARER, "mkldnn_convolution", True)
    (cause,) = causes(old, new(6_000.0), dearer.findings)
    assert cause.message.startswith("kernel jit:avx2 became brg:avx512 in aten::mkldnn_convolution")


def test_other_kernels_hide_no_synchronisation():
    old = step(conv("mkldnn_convolution", kernels="a", syncs=0), *REST)
    new = step(conv("mkldnn_convolution", kernels="b", syncs=1), *REST)
    assert told(verdict(new, old)) == [(Kind.SYNCS, "mkldnn_convolution", True)]


def test_what_has_another_name_elsewhere_is_no_cause():
    new = step(conv("cudnn_convolution"), ran("addmm", 2, us=4_000.0, at="forward fc"), *REST[1:])
    found = verdict(new)
    assert [one.op for one in found.failing] == ["aten::addmm"]
    (cause,) = causes(OLD, new, found.findings)
    assert cause.kind == "time_only"
    assert cause.message.endswith(", with no exact difference there")


def test_rows_that_are_put_together_add_up():
    def sampled(name, us, *samples, forward=1.0):
        return replace(conv(name, us, at="forward net"), samples=samples, forward=forward)

    old = step(sampled("mkldnn_convolution", 30.0, 20.0, 40.0), *REST)
    new = step(sampled("slow_conv2d", 10.0, 8.0, 12.0, forward=0.0), sampled("conv3d", 30.0, 29.0, 31.0), *REST)
    _, known, (joined,) = across(Reference(old, (2,), paired=True), [new], Rules({}))
    was, now = (one.by_name()["aten::conv3d"] for one in (known.profile, joined))
    assert (was.self_host_us, was.samples, now.self_host_us, now.samples) == (30.0, (20.0, 40.0), 40.0, (37.0, 43.0))
    assert (was.calls, now.calls, now.forward, now.facts) == (1, 1, 0.75, None)
    assert joined.total_us == pytest.approx(new.total_us)
    assert sum(op.share for op in joined.ops) == pytest.approx(1.0)
