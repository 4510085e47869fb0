"""What a machine makes of all operators alike, told apart from what operators do by themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import on_device, op, profile, step

from pytest_opcost.judge.timing.machine import machine_factor

CONV = "aten::mkldnn_convolution"


@pytest.mark.parametrize("factor", [1.0, 1.3, 0.7])
def test_a_machine_that_is_slower_or_faster(factor):
    assert machine_factor(step(), step(every=factor)) == pytest.approx(factor)


def test_an_operator_s_own_drift_is_not_the_machine_s():
    assert machine_factor(step(), step(convolution=1.5)) == 1
    assert machine_factor(step(), step(convolution=1.7, every=1.3)) == pytest.approx(1.3)


def dominated(dear, cheap):
    """One operator that is most of the step, and five others."""
    others = ("aten::relu", "aten::add", "aten::copy_", "aten::bernoulli_", "aten::max_pool2d")
    return profile(op(CONV, 800.0 * dear), *(op(name, 40.0 * cheap) for name in others))


def test_one_dominant_operator_that_got_dearer_is_not_taken_for_the_machine():
    assert machine_factor(dominated(1, 1), dominated(2, 1)) == 1


def test_many_cheap_operators_that_got_dearer_are_not_taken_for_the_machine():
    assert machine_factor(dominated(1, 1), dominated(1, 2)) == 1


def test_of_two_medians_the_one_closer_to_one_is_the_machine_s():
    assert machine_factor(dominated(1, 1), dominated(1.2, 1.5)) == pytest.approx(1.2)
    assert machine_factor(dominated(1, 1), dominated(1.5, 1.2)) == pytest.approx(1.2)
    assert machine_factor(dominated(1, 1), dominated(0.9, 0.7)) == pytest.approx(0.9)
    assert machine_factor(dominated(1, 1), dominated(1.5, 0.7)) == 1
    mixed = step(convolution=1.1, pool2d_with_indices=1.2, relu=1.25, bernoulli_=1.4, addmm=1.5, _log_softmax=1.3)
    assert machine_factor(step(), mixed) == pytest.approx(1.2)


def test_a_machine_s_factor_of_very_small_times():
    tiny = [on_device(step(every=factor)) for factor in (0.001, 0.0015)]
    assert machine_factor(*tiny) == pytest.approx(1.5)


def test_too_few_operators_say_nothing_of_the_machine():
    three = [profile(*step(every=factor).ops[:3]) for factor in (1, 1.5)]
    assert machine_factor(*three) == 1
    four = [profile(*step(every=factor).ops[:4]) for factor in (1, 1.5)]
    assert machine_factor(*four) == pytest.approx(1.5)
    one_rare = [profile(*cost.ops, op("aten::add", us)) for cost, us in zip(three, (12.0, 18.0))]
    assert machine_factor(*one_rare) == pytest.approx(1.5)


@pytest.mark.parametrize("excuse", ["other calls", "small share", "free", "new"])
def test_operators_that_say_nothing_of_the_machine(excuse):
    fourth = {
        "other calls": (op("aten::add", 100.0), op("aten::add", 150.0, calls=2)),
        "small share": (op("aten::add", 7.0), op("aten::add", 10.5)),
        "free": (op("aten::add", 100.0), op("aten::add", 0.0)),
        "new": (op("aten::add", 100.0), op("aten::sub", 150.0)),
    }[excuse]
    old, new = (profile(*step(every=factor).ops[:3], extra) for factor, extra in zip((1, 1.5), fourth))
    assert machine_factor(old, new) == 1


@pytest.mark.parametrize(("grown", "factor"), [(1.5, 1.5), (1.7, 1.0), (4.0, 1.0), (1 / 1.5, 1 / 1.5), (0.5, 1.0)])
def test_no_machine_changes_by_more_than_its_slow_spells(grown, factor):
    old = step()
    new = profile(*(replace(one, self_host_us=grown * one.self_host_us) for one in old.ops))
    assert machine_factor(old, new) == pytest.approx(factor)


def test_what_does_other_work_says_nothing_of_the_machine():
    """A model made wider: what takes other inputs is no sign of a slower machine."""
    wider = step(every=1.3)
    grown = [one.name for one in wider.ops[:-2]]
    assert machine_factor(step(), wider, grown) == 1
    assert machine_factor(step(), wider, grown[:1]) == pytest.approx(1.3)
