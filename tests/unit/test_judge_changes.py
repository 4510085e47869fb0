"""What is compared of two profiles, with which noise, and what is the least that is worth telling."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from records import CUDA, on_device, op, profile, reference, sampled, step

pytest.importorskip("numpy")

from pytest_opcost.judge import Reference, Rules
from pytest_opcost.judge.timing import noise
from pytest_opcost.judge.timing.change import DEVICE_EFFECT, HOST_EFFECT, Change
from pytest_opcost.judge.timing.changes import changes
from pytest_opcost.judge.timing.critical import critical_score
from pytest_opcost.judge.timing.groups import OTHER
from pytest_opcost.judge.timing.moved import prior_of
from pytest_opcost.judge.timing.ratios import weights_of
from pytest_opcost.merging import merged

CONV = "aten::mkldnn_convolution"
NONE = Rules({})


def found(old, *rounds, rules=NONE, changed=(), **more):
    return changes(reference(old, **more), rounds, rules, set(changed))


def by_name(*args, **more):
    return {change.op: change for change in found(*args, **more)}


def errors(*args, **more):
    return {name: change.error for name, change in by_name(*args, **more).items()}


def test_what_did_not_change():
    compared = found(step(), step())
    assert [change.op for change in compared] == [one.name for one in step().ops]
    for change in compared:
        assert (change.by, change.before) == (0, change.now)
        assert change.score == pytest.approx(-change.least / change.error)
    assert (compared.factor, compared.degrees, compared.ratios) == (1, 14, ())


def test_an_operator_that_moved():
    change = by_name(step(), step(addmm=1.5))["aten::addmm"]
    assert (change.family, change.before, change.now, change.share) == ("addmm", 200, 300, pytest.approx(300 / 1100))
    assert change.by == pytest.approx(math.log(1.5))
    assert change.score == pytest.approx((change.by - change.least) / change.error)


def test_a_score_is_the_same_in_either_direction_and_negative_within_the_least_effect():
    up, down, within = (Change("a", "b", 1.0, 1.0, by, 0.1, 0.2, 1.0) for by in (0.5, -0.5, 0.1))
    assert (up.score, down.score, within.score) == pytest.approx((3, 3, -1))


def test_the_smallest_change_that_would_have_been_seen():
    change = Change("a", "b", 1.0, 1.0, 0.0, 0.1, math.log(1.05), 1.0)
    assert change.seen_from(4.0) == pytest.approx(1.05 * math.exp(0.6326) - 1)


# What is judged by itself


def rare(us, more=0.0):
    return profile(op("aten::add", us), op("aten::mm", 6000.0), op("aten::conv2d", 4000.0), op("aten::relu", more))


@pytest.mark.parametrize(("before", "after", "judged"), [(150, 197, False), (150, 250, True), (250, 150, True)])
def test_an_operator_is_judged_from_two_per_cent_of_the_step_on_before_or_now(before, after, judged):
    assert ("aten::add" in by_name(rare(before), rare(after))) is judged


def many(us=30.0, count=10, every=1.0):
    rest = ("add", "mul", "sub", "div", "relu", "copy_", "sum", "mean", "exp", "log")[:count]
    return profile(op("aten::mm", 6000.0 * every), *(op(f"aten::{name}", us * every) for name in rest))


def test_what_is_below_is_judged_together():
    compared = by_name(many(), many(45.0))
    assert list(compared) == ["aten::mm", OTHER]
    other = compared[OTHER]
    assert (other.family, other.before, other.now) == (OTHER, pytest.approx(300), pytest.approx(450))
    assert list(by_name(many(count=3), many(45.0, count=3))) == ["aten::mm"]


def test_what_is_new_or_gone_or_does_other_work_is_not_in_the_rest():
    new = profile(*many().ops, op("aten::bmm", 500.0))
    assert by_name(many(), new)[OTHER].now == pytest.approx(300)
    assert by_name(new, many())[OTHER].before == pytest.approx(300)
    more = profile(*(replace(one, self_host_us=90.0) if one.name == "aten::add" else one for one in many().ops))
    assert by_name(many(), more)[OTHER].now == pytest.approx(360)
    assert by_name(many(), more, changed=["aten::add"])[OTHER].now == pytest.approx(270)


def test_what_changed_exactly_waits_or_costs_nothing_is_not_compared():
    assert CONV not in by_name(step(), step(convolution=2.0), changed=[CONV])
    assert "aten::add" not in by_name(rare(0.0), rare(300.0))
    assert "aten::add" not in by_name(rare(300.0), rare(0.0))
    waiting = profile(*step().ops, op("cudaDeviceSynchronize", 500.0))
    assert list(by_name(waiting, waiting)) == [one.name for one in step().ops]


def test_nothing_to_compare():
    for compared in (found(rare(0.0), profile(op("aten::bmm", 1.0))), found(step(), step(), changed=step().by_name())):
        assert (tuple(compared), compared.factor, compared.degrees) == ((), 1, 0)


def test_an_operator_that_is_missing_in_a_round_is_not_judged_by_itself():
    fewer = profile(*(one for one in step().ops if one.name != CONV))
    for rounds in ([step(), fewer], [fewer, step()], [step(), step(), fewer]):
        assert CONV not in by_name(step(), *rounds)
        assert "aten::addmm" in by_name(step(), *rounds)


def test_one_that_costs_nothing_in_a_round_leaves_all_figures_finite():
    free = profile(*(replace(one, self_host_us=0.0) if one.name == CONV else one for one in step().ops))
    for change in (
        *found(step(), step(), free, step()),
        *changes(reference(sampled(step(), 1.0, 0.0, 1.0), 3), [step()], NONE, set()),
    ):
        assert all(map(math.isfinite, (change.by, change.error, change.score)))


# Noise


def test_the_median_of_rounds_counts_and_more_rounds_narrow():
    one, three, wild = (
        by_name(step(), *[step(addmm=f) for f in factors])["aten::addmm"]
        for factors in ([1.3], [1.3, 1.28, 1.32], [1.3, 1.2, 9.0])
    )
    assert (three.by, wild.by) == (pytest.approx(math.log(1.3)), pytest.approx(math.log(1.3)))
    assert (three.now, wild.now) == (pytest.approx(260), pytest.approx(260))
    assert three.error < one.error < wild.error < 2 * one.error


def test_the_baseline_s_own_rounds_widen_and_narrow():
    three = profile(*step().ops[:3])  # too few to explain each other
    wild, calm = (sampled(three, *(1 + width * x for x in (-2, -1, 0, 1, 2) * 8)) for width in (0.1, 0.0001))
    plain, wider, closer = (found_error(old, "aten::addmm") for old in (three, wild, calm))
    assert closer < plain < wider / 1.5


def found_error(old, name):
    return {one.op: one.error for one in changes(reference(old, 40), [old], NONE, set())}[name]


def test_noise_that_all_operators_share_leaves_each_of_them_certain():
    """What others explain is no noise of one's own."""
    wild = sampled(step(), *(1 + 0.1 * x for x in (-2, -1, 0, 1, 2) * 8))
    assert found_error(wild, "aten::addmm") < found_error(step(), "aten::addmm")


def test_an_operator_without_samples_has_the_noise_that_is_known_beforehand():
    ops = [replace(one, samples=()) if one.name == CONV else one for one in sampled(step(), *[1.0, 1.001] * 20).ops]
    some, three = profile(*ops), [one.name for one in step().ops if one.name != CONV][2:]
    compared = {one.op: one for one in changes(reference(some, 40), [step()], NONE, set(three))}
    few = {one.op: one for one in changes(reference(step(), 40), [step()], NONE, set(three))}
    assert len(compared) == 3  # too few to explain each other: errors are each one's own
    assert compared[CONV].error == pytest.approx(few[CONV].error)
    assert compared["aten::addmm"].error < 0.8 * few["aten::addmm"].error


def test_samples_that_do_not_fit_the_sessions_are_none():
    three = sampled(step(), 0.5, 1.0, 2.0)
    fits, fits_not = (changes(reference(three, rounds), [step()], NONE, set()) for rounds in (3, 4))
    plain = changes(reference(step(), 4), [step()], NONE, set())
    assert [one.error for one in fits_not] == pytest.approx([one.error for one in plain])
    assert [one.error for one in fits] != pytest.approx([one.error for one in plain])


def test_rounds_beside_each_other_are_surer_than_a_file():
    file, beside = (errors(step(), step(), paired=paired) for paired in (False, True))
    assert all(beside[name] < file[name] for name in file)


@pytest.mark.parametrize(("changed", "apart"), [("aten::relu", True), ("aten::view", False)])
@pytest.mark.parametrize("device", [True, False])
def test_pairs_of_which_one_side_takes_memory_otherwise_find_their_tensors_elsewhere(changed, apart, device):
    cost = profile(*step().ops, op("aten::view", 1.0))
    cost = on_device(cost) if device else cost
    base = replace(reference(sampled(cost, *[1.0] * 5), 5), paired=True)
    plain, other = (
        {one.op: one.error for one in changes(base, [cost] * 5, NONE, names)} for names in (set(), {changed})
    )
    wider = [other[name] > 1.2 * plain[name] for name in other]
    assert all(wider) if apart and device else not any(wider)


def test_what_streams_through_memory_is_less_certain():
    own = errors(step(), step())
    assert own["aten::relu"] > 1.5 * own["aten::mkldnn_convolution"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("aten::mkldnn_convolution", noise.COMPUTING),
        ("aten::mkldnn_rnn_layer", noise.COMPUTING),
        ("aten::bmm", noise.PRODUCTS),
        ("aten::gelu", noise.STREAMING),
        ("aten::native_batch_norm_backward", noise.STREAMING),
        ("my::op", noise.STREAMING),
    ],
)
def test_only_what_was_seen_to_be_steady_is_taken_for_it(name, kind):
    assert prior_of(profile(op(name, 100.0)), name) is kind


@pytest.mark.parametrize("before", [False, True])
def test_a_busier_machine_widens_on_the_host_s_clock(before):
    calm, busy = step(), replace(step(), load=1.0)
    pair = (busy, calm) if before else (calm, busy)
    wider, plain = errors(*pair), errors(calm, calm)
    assert all(wider[name] > plain[name] for name in plain)
    assert errors(busy, busy) == pytest.approx(plain)


def test_a_device_does_not_feel_the_host_s_load():
    calm = on_device(step())
    assert errors(calm, replace(calm, load=1.0)) == pytest.approx(errors(calm, calm))


def test_another_card_widens():
    def on_card(uuid):
        cost = on_device(step())
        return replace(cost, environment=replace(CUDA, details=(("card", uuid),)))

    same, other = errors(on_card("GPU-1"), on_card("GPU-1")), errors(on_card("GPU-1"), on_card("GPU-2"))
    growth = {name: other[name] / same[name] for name in same}
    assert min(growth.values()) > 1.0
    assert growth[CONV] > 1.1


def test_a_device_is_surer_than_a_host():
    host, device = errors(step(), step()), errors(on_device(step()), on_device(step()))
    assert device[CONV] < 0.7 * host[CONV]


def test_on_a_device_what_computes_is_surer_than_what_streams():
    device = errors(on_device(step()), on_device(step()))
    assert device[CONV] < 0.5 * device["aten::_log_softmax"]


# What the machine does


@pytest.mark.parametrize("factor", [1.3, 0.75])
def test_what_the_machine_makes_of_all_is_nobody_s_and_widens(factor):
    compared = found(step(), step(every=factor))
    assert compared.factor == pytest.approx(factor)
    assert max(change.score for change in compared) < 0.5
    plain = errors(step(), step())
    assert all(change.error > plain[change.op] for change in compared)


def test_what_one_does_beside_a_slow_machine_is_its_own():
    change = by_name(step(), step(every=1.3, addmm=1.5))["aten::addmm"]
    assert change.by == pytest.approx(math.log(1.5), abs=0.05)
    assert change.now == pytest.approx(390)


@pytest.mark.parametrize("factor", [4.0, 0.4])
def test_a_step_that_changed_as_a_whole_is_no_slow_machine(factor):
    compared = found(step(), step(every=factor))
    assert compared.factor == 1
    assert [change.by for change in compared] == pytest.approx([math.log(factor)] * 6)


def test_the_common_noise_of_a_few_operators_is_not_told_from_the_drift_of_one():
    three = [profile(*step(every=f).ops[:3]) for f in (1, 1.1)]
    assert [change.by for change in found(*three)] == pytest.approx([math.log(1.1)] * 3)
    lone = [profile(op("aten::mm", us)) for us in (100.0, 150.0)]
    (change,) = found(*lone)
    assert change.by == pytest.approx(math.log(1.5))


# The least effect


def least(old, name, rules=NONE):
    return math.expm1(by_name(old, old, rules=rules)[name].least)


def large(us):
    return profile(op("aten::mm", us), op("aten::conv2d", us), op("aten::bmm", us))


@pytest.mark.parametrize(("clock", "effect"), [(lambda cost: cost, 0.01), (on_device, 0.003)])
def test_it_is_a_part_of_the_cost(clock, effect):
    assert least(clock(large(50_000.0)), "aten::mm") == pytest.approx(effect)


def test_of_the_rest_together_it_is_half_a_per_cent_of_the_step():
    rest = [op(f"aten::small{i}", 100.0) for i in range(30)]
    cost = profile(*large(20_000.0).ops, *rest)
    assert least(cost, "other") == pytest.approx(0.005 * 63_000 / 3_000)


def test_a_device_s_effect_is_less_than_a_host_s():
    assert (HOST_EFFECT, DEVICE_EFFECT) == (0.01, 0.003)
    ratio = Rules({"conv/addmm": None})
    for clock, effect in ((lambda cost: cost, 0.01), (on_device, 0.003)):
        assert math.expm1(found(clock(step()), clock(step()), rules=ratio).ratios[0].least) == pytest.approx(effect)


@pytest.mark.parametrize(("clock", "us"), [(lambda cost: cost, 2.0), (on_device, 0.01)])
def test_it_is_so_many_microseconds(clock, us):
    assert least(clock(large(2.5)), "aten::mm") == pytest.approx(us / 2.5)


@pytest.mark.parametrize("clock", [lambda cost: cost, on_device])
def test_what_the_user_says_takes_its_place(clock):
    old = clock(large(50_000.0))
    assert least(old, "aten::mm", Rules({}, tolerance=0.2)) == pytest.approx(0.2)
    assert least(old, "aten::mm", Rules({}, floor_us=20_000.0)) == pytest.approx(0.4)
    assert least(clock(large(10.0)), "aten::mm", Rules({}, floor_us=0.0)) < 0.011


# Ratios


def phased(**changes):
    forward = {"aten::conv2d": 0.25, "aten::mm": 0.5, "aten::copy_": 1.0, "aten::add": 0.75}
    costs = {"aten::conv2d": 400.0, "aten::mm": 200.0, "aten::addmm": 100.0, "aten::copy_": 9.0, "aten::add": 291.0}
    return profile(
        *(op(name, us * changes.get(name, 1.0), forward=forward.get(name, 1.0)) for name, us in costs.items())
    )


@pytest.mark.parametrize("form", ["conv/addmm", "addmm/total", "copy/total", "aten::mm/conv", "total/elementwise"])
@pytest.mark.parametrize("phase", ["", " forward"])
def test_a_weight_is_the_derivative_of_the_log_of_the_ratio(form, phase):
    h = 1e-5
    for one in phased().ops:
        up, down = (math.log(phased(**{one.name: 1 + x}).ratio(form + phase)) for x in (h, -h))
        assert weights_of(phased(), form + phase).get(one.name, 0) == pytest.approx((up - down) / (2 * h), abs=1e-6)


def test_waiting_has_no_weight_in_the_total():
    waiting = profile(*phased().ops, op("cudaDeviceSynchronize", 500.0))
    assert "cudaDeviceSynchronize" not in weights_of(waiting, "conv/total")


def test_a_ratio_s_noise_is_that_of_its_sides_less_what_they_do_together():
    rules = Rules({"conv/addmm": None})
    (ratio,) = found(step(), step(convolution=1.2), rules=rules).ratios
    assert (ratio.op, ratio.family, ratio.before, ratio.now) == ("conv/addmm", "ratio", 2, pytest.approx(2.4))
    assert ratio.by == pytest.approx(math.log(1.2))
    sides = [one.error for one in found(*[profile(*step().ops[:2])] * 2)]
    assert 0.5 * math.hypot(*sides) < ratio.error < math.hypot(*sides)


def test_a_ratio_of_cheap_operators_has_their_noise():
    """Though they are judged by themselves nowhere."""
    rules = Rules({"copy/total": None})
    old, new = phased(), phased(**{"aten::copy_": 1.1})
    assert "aten::copy_" not in by_name(old, new)
    for ratio in found(old, new, rules=rules).ratios:
        assert ratio.error > 0.1
        assert ratio.score < 2


def test_a_ratio_of_what_changed_exactly_is_judged():
    (ratio,) = found(step(), step(convolution=1.2), rules=Rules({"conv/addmm": None}), changed=[CONV]).ratios
    assert ratio.now == pytest.approx(2.4)
    assert ratio.error > 0.01


def test_a_ratio_of_a_side_to_itself_is_none():
    assert found(step(), step(), rules=Rules({"total/total": None})).ratios == ()


def test_a_declared_band_is_the_least_change_of_a_ratio():
    for band in (0.05, 0.5):
        (ratio,) = found(step(), step(), rules=Rules({"conv/addmm": band})).ratios
        assert math.expm1(ratio.least) == pytest.approx(band)


def test_a_slow_machine_and_more_rounds_count_for_ratios_too():
    rules = Rules({"conv/addmm": None})
    plain, slow, many_ = (
        found(step(), *rounds, rules=rules).ratios[0].error for rounds in ([step()], [step(every=1.5)], [step()] * 5)
    )
    assert many_ < plain < slow


def test_the_profile_that_figures_are_told_of_is_the_rounds_merged():
    rounds = [step(addmm=f) for f in (1.1, 1.2, 1.3)]
    assert by_name(step(), *rounds)["aten::addmm"].now == merged(rounds).by_name()["aten::addmm"].self_host_us


# Pairs


def at_places(seed, conv=1.0):
    """A device's step whose operators each take longer or shorter by where their memory lies in this round."""
    draw = random.Random(seed)
    factors = {one.name: draw.gauss(1, 0.005 if one.family in ("conv", "addmm") else 0.03) for one in step().ops}
    factors[CONV] *= conv
    return on_device(profile(*(replace(one, self_host_us=one.self_host_us * factors[one.name]) for one in step().ops)))


def judged_in_pairs(conv, *, places):
    base, head = [at_places(seed) for seed in range(8)], [at_places(seed, conv) for seed in places]
    return changes(Reference(merged(base), (8,), paired=True), head, Rules({"conv/addmm": None}), set())


def test_what_both_rounds_of_a_pair_share_hides_no_change():
    compared = judged_in_pairs(1.02, places=range(8))
    (moved,) = (one for one in compared.operators if one.op == CONV)
    assert moved.by == pytest.approx(math.log(1.02), abs=1e-4)
    assert moved.score > critical_score(compared, 12)
    assert all(abs(one.by) < 1e-4 for one in compared.operators if one is not moved)
    assert [one.by for one in compared.ratios] == pytest.approx([math.log(1.02)], rel=1e-3)
    assert all(one.score > critical_score(compared, 12) for one in compared.ratios)


@pytest.mark.parametrize("conv", [1.0, 1.02])
def test_what_they_do_not_share_is_no_drift(conv):
    compared = judged_in_pairs(conv, places=range(100, 108))
    assert max(one.score for one in compared) < critical_score(compared, 12)


def test_one_pair_too_few_is_judged_without_pairing():
    base, head = [at_places(seed) for seed in range(8)], [at_places(seed) for seed in range(7)]
    compared = changes(Reference(merged(base), (8,), paired=True), head, NONE, set())
    assert max(one.score for one in compared) < critical_score(compared, 12)
