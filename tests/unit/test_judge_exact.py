from __future__ import annotations

from dataclasses import replace

import pytest
from records import CPU, op, profile, step

from pytest_opcost.facts import OpFacts
from pytest_opcost.judge import Kind
from pytest_opcost.judge.exact import exact_findings, exactly_changed


def told(old, new):
    findings = exact_findings(old, new)
    assert all(finding.fails and finding.change == 0 for finding in findings)
    return [(finding.kind, finding.message) for finding in findings]


def with_calls(**calls):
    """Operators of `aten::` with these calls a step."""
    return profile(*(op(f"aten::{name}", 10.0, calls=n) for name, n in calls.items()))


def test_the_same_operators_are_no_news_whatever_they_cost():
    assert told(step(), step(convolution=9.0)) == []


def test_a_new_operator():
    assert told(with_calls(mm=1), with_calls(mm=1, copy_=3)) == [
        (Kind.NEW, "aten::copy_ (copy) is new: 3 calls a step (was 0)")
    ]


def test_an_operator_that_is_gone():
    assert told(with_calls(mm=1, copy_=2), with_calls(mm=1)) == [
        (Kind.GONE, "aten::copy_ (copy) is gone: 0 calls a step (was 2)")
    ]


@pytest.mark.parametrize(
    ("before", "after", "words"), [(1, 2, "2 times a step (was 1)"), (5, 1, "1 time a step (was 5)")]
)
def test_an_operator_that_is_called_more_or_less_often(before, after, words):
    assert told(with_calls(mm=before), with_calls(mm=after)) == [(Kind.CALLS, f"aten::mm (addmm) is called {words}")]


def test_the_figures_of_a_finding_are_calls():
    (finding,) = exact_findings(with_calls(mm=1), with_calls(mm=4))
    assert (finding.op, finding.family, finding.baseline, finding.current) == ("aten::mm", "addmm", 1, 4)


def test_another_backend_is_one_finding():
    old = with_calls(mm=1, convolution=2, mkldnn_convolution=2)
    new = with_calls(mm=1, convolution=2, thnn_conv2d=2, _slow_conv2d_forward=2)
    assert told(old, new) == [
        (Kind.BACKEND, "conv now runs as aten::_slow_conv2d_forward, aten::thnn_conv2d (was aten::mkldnn_convolution)")
    ]
    (finding,) = exact_findings(old, new)
    assert (finding.op, finding.family) == ("aten::_slow_conv2d_forward", "conv")


def test_a_backend_that_only_takes_over_some_calls():
    assert told(with_calls(mkldnn_convolution=2), with_calls(mkldnn_convolution=1, thnn_conv2d=1)) == [
        (Kind.BACKEND, "conv now runs as aten::thnn_conv2d (was aten::mkldnn_convolution)")
    ]


def test_operators_of_different_families_do_not_take_each_other_s_place():
    kinds = [kind for kind, _ in told(with_calls(mm=1, relu=1), with_calls(relu=1, copy_=1))]
    assert sorted(kind.name for kind in kinds) == ["GONE", "NEW"]


def test_one_more_call_of_a_known_operator_is_no_backend():
    old, new = with_calls(mkldnn_convolution=2, conv2d=1), with_calls(mkldnn_convolution=1, conv2d=2)
    assert {kind for kind, _ in told(old, new)} == {Kind.CALLS}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("aten::view", "aten::reshape"),
        ("aten::empty", "aten::zeros"),
        ("AddmmBackward0", "MmBackward0"),
        ("aten::fill_", "aten::zero_"),
        ("aten::is_pinned", "aten::result_type"),
    ],
)
def test_supporting_operators_are_no_backend(one, other):
    findings = exact_findings(profile(op(one, 1.0)), profile(op(other, 1.0)))
    assert {finding.kind for finding in findings} == {Kind.NEW, Kind.GONE}


def test_supporting_operators_are_named_last_and_among_equals_new_ones_before_other_calls():
    old = profile(op("aten::mm", 1, calls=1), op("aten::view", 1, calls=1))
    new = profile(op("aten::empty", 1), op("aten::view", 1, calls=2), op("aten::mm", 1, calls=2), op("aten::copy_", 1))
    assert [finding.op for finding in exact_findings(old, new)] == [
        "aten::copy_",
        "aten::mm",
        "aten::empty",
        "aten::view",
    ]


@pytest.mark.parametrize("varying", ["old", "new", "both"])
def test_operators_that_vary_are_not_compared(varying):
    old = profile(op("aten::mm", 1), op("aten::add", 1, calls=1, varying=varying != "new"))
    new = profile(op("aten::mm", 1), op("aten::add", 1, calls=7, varying=varying != "old"))
    assert told(old, new) == []
    assert told(new, old) == []


@pytest.mark.parametrize("gone_from", ["old", "new"])
def test_an_operator_that_varies_may_be_missing(gone_from):
    some = profile(op("aten::mm", 1), op("aten::add", 1, varying=True))
    none = profile(op("aten::mm", 1))
    assert told(*((none, some) if gone_from == "old" else (some, none))) == []


@pytest.mark.parametrize(
    "name", ["cudaLaunchKernel", "cuLaunchKernel", "autograd::engine::evaluate_function: AddmmBackward0"]
)
def test_runtime_calls_and_the_engine_s_wrappers_are_left_out(name):
    with_it = profile(op("aten::mm", 1), op(name, 1, calls=3))
    assert told(profile(op("aten::mm", 1)), with_it) == []
    assert told(with_it, profile(op("aten::mm", 1), op(name, 1, calls=5))) == []


def test_autograd_nodes_are_compared():
    assert told(profile(op("AddmmBackward0", 1)), profile(op("AddmmBackward0", 1, calls=2))) == [
        (Kind.CALLS, "AddmmBackward0 (autograd) is called 2 times a step (was 1)")
    ]


def under(**settings):
    return replace(step(), environment=replace(CPU, settings=tuple(settings.items())))


def test_settings_that_differ():
    old, new = under(mkldnn="on", tf32="on", threads="1"), under(mkldnn="off", tf32="on", threads="2")
    assert told(old, new) == [
        (Kind.SETTING, "the setting mkldnn is off (was on)"),
        (Kind.SETTING, "the setting threads is 2 (was 1)"),
    ]


def test_settings_are_told_in_the_order_of_their_names():
    names = "fghaebdc"
    old, new = (under(**dict.fromkeys(names, value)) for value in ("on", "off"))
    assert [finding.op for finding in exact_findings(old, new)] == sorted(names)


def test_a_setting_that_one_side_does_not_know_is_no_difference():
    assert told(under(mkldnn="on"), under(mkldnn="on", new_switch="on")) == []
    assert told(under(mkldnn="on", old_switch="on"), under(mkldnn="on")) == []


def test_settings_come_first_then_backends_then_single_operators():
    old = replace(with_calls(mkldnn_convolution=1, mm=1), environment=replace(CPU, settings=(("mkldnn", "on"),)))
    new = replace(with_calls(thnn_conv2d=1, mm=2), environment=replace(CPU, settings=(("mkldnn", "off"),)))
    assert [kind for kind, _ in told(old, new)] == [Kind.SETTING, Kind.BACKEND, Kind.CALLS]


def test_exactly_changed_are_the_operators_whose_calls_differ():
    old = with_calls(mm=1, relu=1, copy_=1)
    new = with_calls(mm=2, relu=1, add=1)
    assert exactly_changed(exact_findings(old, new), old, new) == {"aten::mm", "aten::copy_", "aten::add"}
    assert exactly_changed((), old, old) == set()


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        (0, 12, "autograd makes 12 nodes a step (was 0)"),
        (12, 0, "autograd makes 0 nodes a step (was 12)"),
        (9, 17, "autograd makes 17 nodes a step (was 9)"),
        (12, 12, None),
        (None, 12, None),
        (12, None, None),
    ],
)
def test_the_nodes_of_autograd(was, now, message):
    old, new = (replace(step(), autograd_nodes=nodes) for nodes in (was, now))
    assert told(old, new) == ([(Kind.AUTOGRAD, message)] if message else [])


def test_more_nodes_follow_from_more_operators_and_none_from_all():
    old, new = (replace(with_calls(mm=n), autograd_nodes=n) for n in (1, 2))
    assert [kind for kind, _ in told(old, new)] == [Kind.CALLS]
    assert [kind for kind, _ in told(replace(old, autograd_nodes=0), new)] == [Kind.AUTOGRAD, Kind.CALLS]


@pytest.mark.parametrize("name", ["aten::view", "aten::size", "ViewBackward0", "detach"])
def test_operators_without_weight_are_told_and_do_not_fail(name):
    for old, new in ((0, 1), (1, 0), (1, 5)):
        profiles = [profile(op("aten::mm", 1), *([op(name, 1, calls=n)] if n else [])) for n in (old, new)]
        (finding,) = exact_findings(*profiles)
        assert (finding.op, finding.fails) == (name, False)


@pytest.mark.parametrize("fact", [{"alloc_bytes": 8}, {"kernels": (("copy_kernel", 1),)}, {"syncs": 1}])
def test_a_view_that_allocates_launches_or_waits_has_weight(fact):
    (finding,) = exact_findings(step(), profile(*step().ops, op("aten::reshape", 1, facts=OpFacts(**fact))))
    assert finding.fails


def test_other_families_and_their_nodes_have_weight():
    for name in ("aten::empty", "aten::fill_", "AddmmBackward0", "torch::autograd::AccumulateGrad"):
        (finding,) = exact_findings(step(), profile(*step().ops, op(name, 1)))
        assert finding.fails
