"""Operators that took one another's place: by family, by place, by name where a family holds many works."""

from __future__ import annotations

import pytest
from changes import ran, step
from records import op, profile

from pytest_opcost.judge.matching import matched


def names(old, new):
    """The matches in short: family, names before, names now."""
    return [
        (match.family, {one.name.removeprefix("aten::") for one in match.old},
         {one.name.removeprefix("aten::") for one in match.new})
        for match in matched(old, new)
    ]  # fmt: skip


def at(name, *modules, calls=None, us=10.0):
    return ran(name, calls or len(modules) or 1, us=us, at="; ".join(f"forward {module}" for module in modules))


def test_another_backend_at_the_same_place():
    old = step(at("mkldnn_convolution", "conv1", us=400.0))
    new = step(at("cudnn_convolution", "conv1", us=30.0), at("conv2d", "conv1"))
    (match,) = matched(old, new)
    assert match.family == "conv"
    assert match.names == {"aten::mkldnn_convolution", "aten::cudnn_convolution", "aten::conv2d"}
    assert match.costs_us(old, new) == (400.0, 40.0)
    assert match.costs_in_words(old, new) == "40 us a step (was 400 us)"


def test_one_that_kept_some_calls_is_on_both_sides():
    old = step(at("mkldnn_convolution", "conv1", "conv2"))
    new = step(at("mkldnn_convolution", "conv2"), at("thnn_conv2d", "conv1"))
    assert names(old, new) == [("conv", {"mkldnn_convolution"}, {"mkldnn_convolution", "thnn_conv2d"})]
    assert names(new, old) == [("conv", {"mkldnn_convolution", "thnn_conv2d"}, {"mkldnn_convolution"})]


def test_places_keep_operators_of_one_family_apart():
    old = step(at("mm", "head"), at("bmm", "attention"))
    new = step(at("addmm", "head"), at("baddbmm", "attention"))
    assert names(old, new) == [("addmm", {"bmm"}, {"baddbmm"}), ("addmm", {"mm"}, {"addmm"})] or names(old, new) == [
        ("addmm", {"mm"}, {"addmm"}),
        ("addmm", {"bmm"}, {"baddbmm"}),
    ]


def test_a_forward_does_not_take_a_backwards_place():
    old = step(at("mm", "fc"), ran("bmm", at="backward fc"))
    new = step(at("addmm", "fc"))
    assert names(old, new) == [("addmm", {"mm"}, {"addmm"})]


def test_renamed_modules_keep_nothing_apart():
    assert names(step(at("mm", "old")), step(at("addmm", "new"))) == [("addmm", {"mm"}, {"addmm"})]


@pytest.mark.parametrize("bare", ["old", "new", "both"])
def test_operators_without_places_match_by_family(bare):
    old, new = (
        profile(op(name)) if bare in (side, "both") else step(at(name, "conv1"))
        for side, name in (("old", "aten::mkldnn_convolution"), ("new", "aten::thnn_conv2d"))
    )
    assert [match[0] for match in names(old, new)] == ["conv"]


def test_the_same_operators_match_nothing():
    same = step(at("mm", "fc"), at("relu", "net"))
    assert matched(same, same) == ()


@pytest.mark.parametrize(("was", "now", "match"), [("relu_", "relu", True), ("add", "tanh", False)])
def test_of_many_works_only_the_same_one_is_matched(was, now, match):
    assert bool(matched(step(at(was, "net", calls=2)), step(at(now, "net", calls=2)))) is match


@pytest.mark.parametrize(("was", "now"), [("view", "reshape"), ("empty", "zeros"), ("fill_", "zero_")])
def test_what_only_prepares_is_not_matched(was, now):
    assert matched(step(at(was, "net")), step(at(now, "net"))) == ()
