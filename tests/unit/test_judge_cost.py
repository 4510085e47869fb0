"""How operators are judged: tolerance, spread, floors, load, and what the machine does to all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import on_device, op, profile, step

from pytest_opcost.judge import Kind, Rules, microseconds, percent, signed
from pytest_opcost.judge.cost import cost_findings, machine_factor

CONV = "aten::mkldnn_convolution"


def found(old, new, rules=None, changed=()):
    return cost_findings(old, {}, new, rules or Rules({}), machine_factor(old, new), set(changed))


def kinds(old, new, rules=None, changed=()):
    return [(finding.kind, finding.op.rpartition(":")[2]) for finding in found(old, new, rules, changed)]


def test_a_dearer_operator_is_named_with_figures_and_what_was_allowed():
    (finding,) = found(step(), step(convolution=1.5))
    assert (finding.kind, finding.op, finding.family, finding.fails) == (Kind.DEARER, CONV, "conv", True)
    assert (finding.baseline, finding.current, finding.change) == (400, 600, pytest.approx(0.5))
    assert finding.message == f"{CONV} (conv): 600 us a step, was 400 us (+50 %, allowed +20 %)"


@pytest.mark.parametrize(("factor", "expected"), [(1.19, []), (1.21, [(Kind.DEARER, "addmm")])])
def test_the_host_s_tolerance_is_a_fifth(factor, expected):
    assert kinds(step(), step(addmm=factor)) == expected


@pytest.mark.parametrize(("factor", "expected"), [(1.04, []), (1.06, [(Kind.DEARER, "addmm")])])
def test_the_device_s_tolerance_is_a_twentieth(factor, expected):
    assert kinds(on_device(step()), on_device(step(addmm=factor))) == expected


@pytest.mark.parametrize("clock", [lambda cost: cost, on_device], ids=["host", "device"])
@pytest.mark.parametrize("tolerance", [0.0, 0.1, 0.5, 2.0])
def test_a_declared_tolerance_is_taken_for_both_clocks(clock, tolerance):
    below, above = (clock(step(addmm=1 + tolerance + more)) for more in (-0.03, 0.03))
    assert kinds(clock(step()), above, Rules({}, tolerance)) == [(Kind.DEARER, "addmm")]
    assert tolerance == 0 or kinds(clock(step()), below, Rules({}, tolerance)) == []


@pytest.mark.parametrize(("factor", "expected"), [(0.86, []), (0.81, [(Kind.CHEAPER, "addmm")])])
def test_a_cheaper_operator_is_told_and_does_not_fail(factor, expected):
    assert kinds(step(), step(addmm=factor)) == expected
    assert not any(finding.fails for finding in found(step(), step(addmm=factor)))


def test_the_words_of_a_cheaper_operator():
    (finding,) = found(step(), step(addmm=0.5))
    assert finding.message == "aten::addmm (addmm): 100 us a step, was 200 us (-50 %): cheaper than the baseline"
    assert finding.change == pytest.approx(-0.5)


def with_samples(*samples):
    return profile(*(replace(one, samples=samples if one.name == CONV else ()) for one in step().ops))


@pytest.mark.parametrize(("factor", "expected"), [(1.58, []), (1.62, [(Kind.DEARER, "mkldnn_convolution")])])
def test_the_tolerance_widens_to_twice_the_baseline_s_own_spread(factor, expected):
    assert kinds(with_samples(400.0, 520.0), step(convolution=factor)) == expected


def test_a_small_spread_does_not_narrow_the_tolerance():
    assert kinds(with_samples(400.0, 404.0), step(convolution=1.15)) == []


def test_a_band_that_is_too_wide_is_told_as_noise_even_where_nothing_moved():
    (finding,) = found(with_samples(400.0, 620.0), step())
    assert (finding.kind, finding.op, finding.fails, finding.change) == (Kind.NOISE, CONV, False, 0)
    assert finding.message == (
        f"{CONV} (conv): the baseline's own rounds differ by 55 %; only a change above 110 % would have been seen"
    )


def rare(us):
    """An operator beside others that make up 10,000 us."""
    return profile(op("aten::add", us), op("aten::mm", 6000.0), op("aten::conv2d", 4000.0))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (130.0, 197.0, []),  # 1.3 % -> 1.9 % of the step: below the share floor on both sides
        (150.0, 300.0, [(Kind.DEARER, "add")]),
        (300.0, 150.0, [(Kind.CHEAPER, "add")]),
    ],
)
def test_an_operator_counts_from_two_per_cent_of_the_step_on(before, after, expected):
    assert kinds(rare(before), rare(after)) == expected


@pytest.mark.parametrize(("after", "expected"), [(345.0, []), (360.0, [(Kind.DEARER, "add")])])
def test_a_change_must_weigh_half_a_per_cent_of_the_step(after, expected):
    assert kinds(rare(300.0), rare(after), Rules({}, 0.05)) == expected


def small(us):
    return profile(op("aten::add", us), op("aten::mm", 50.0), op("aten::conv2d", 40.0))


@pytest.mark.parametrize(("after", "expected"), [(14.9, []), (15.1, [(Kind.DEARER, "add")])])
def test_a_change_of_host_time_must_be_five_microseconds(after, expected):
    assert kinds(small(10.0), small(after)) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (2.0, 2.45, []),
        (2.0, 2.55, [(Kind.DEARER, "add")]),
        (0.9, 1.95, [(Kind.DEARER, "add")]),
        (1.95, 0.9, [(Kind.CHEAPER, "add")]),
    ],
)
def test_a_change_of_device_time_must_be_half_a_microsecond(before, after, expected):
    assert kinds(on_device(small(before)), on_device(small(after))) == expected


@pytest.mark.parametrize(("factor", "kind"), [(1.1, None), (1.4, Kind.NOISE), (1.7, Kind.DEARER)])
def test_load_widens_what_is_told_aloud_and_the_rest_is_noise(factor, kind):
    busy = replace(step(convolution=factor), load=1.0)
    assert kinds(step(), busy) == ([(kind, "mkldnn_convolution")] if kind else [])
    assert [finding.fails for finding in found(step(), busy)] == ([kind is Kind.DEARER] if kind else [])


def test_a_baseline_that_was_recorded_under_load_widens_too_and_equal_loads_do_not():
    dearer = step(convolution=1.4)
    assert kinds(replace(step(), load=1.0), dearer) == [(Kind.NOISE, "mkldnn_convolution")]
    assert kinds(replace(step(), load=0.9), replace(dearer, load=0.9)) == [(Kind.DEARER, "mkldnn_convolution")]


def test_the_words_of_noise():
    (finding,) = found(step(), replace(step(convolution=1.4), load=1.0))
    assert finding.message == (
        f"{CONV} (conv): 560 us a step, was 400 us (+40 %): the machine is busier or slower; "
        "only above 60 % would have been told"
    )
    assert finding.change == pytest.approx(0.4)


def test_a_device_s_clock_does_not_feel_the_host_s_load():
    busy = replace(on_device(step(convolution=1.1)), load=1.0)
    assert kinds(on_device(step()), busy) == [(Kind.DEARER, "mkldnn_convolution")]


def test_load_makes_cheaper_harder_to_tell():
    assert kinds(step(), replace(step(convolution=0.7), load=1.0)) == []


def test_operators_that_differ_exactly_or_cost_nothing_are_not_compared():
    assert kinds(step(), step(convolution=2.0), changed=[CONV]) == []
    assert kinds(rare(0.0), rare(300.0)) == []
    assert kinds(rare(300.0), rare(0.0)) == []
    assert kinds(step(), profile(*step().ops, op("aten::copy_", 500.0))) == []


@pytest.mark.parametrize("factor", [1.3, 0.7])
def test_a_machine_that_is_slower_or_faster_is_one_finding_that_does_not_fail(factor):
    old, new = step(), step(every=factor)
    assert machine_factor(old, new) == pytest.approx(factor)
    (finding,) = found(old, new)
    word = "dearer" if factor > 1 else "cheaper"
    assert (finding.kind, finding.op, finding.family, finding.fails) == (Kind.MACHINE, "all operators", "total", False)
    assert finding.message == f"all operators alike are 30 % {word}: the machine changed, not an operator"
    assert (finding.baseline, finding.current) == (1, pytest.approx(factor))
    assert finding.change == pytest.approx(factor - 1)


@pytest.mark.parametrize(("factor", "told"), [(1.08, False), (1.11, True), (0.93, False), (0.90, True)])
def test_a_machine_is_told_from_half_the_tolerance_on(factor, told):
    assert kinds(step(), step(every=factor)) == ([(Kind.MACHINE, "all operators")] if told else [])


@pytest.mark.parametrize(("own", "expected"), [(1.15, []), (1.4, [Kind.NOISE]), (1.7, [Kind.DEARER])])
def test_an_operator_s_own_drift_is_told_apart_from_a_slow_machine(own, expected):
    new = step(convolution=own, every=1.3)
    assert [kind for kind, _ in kinds(step(), new)] == [*expected, Kind.MACHINE]
    if own == 1.7:
        assert found(step(), new)[0].change == pytest.approx(1.3 * 1.7 - 1)


def test_an_operator_that_stays_behind_on_a_fast_machine_is_not_dearer():
    assert [kind for kind, _ in kinds(step(), step(convolution=1 / 0.7, every=0.7))] == [Kind.MACHINE]


@pytest.mark.parametrize(("own", "machine"), [(1.0, 1.6), (0.8, 1.3)])
def test_an_operator_that_resists_a_slow_machine_is_not_cheaper(own, machine):
    assert [kind for kind, _ in kinds(step(), step(convolution=own / machine, every=machine))] == [Kind.MACHINE]


def dominated(dear, cheap):
    """One operator that is most of the step, and five others."""
    others = ("aten::relu", "aten::add", "aten::copy_", "aten::bernoulli_", "aten::max_pool2d")
    return profile(op(CONV, 800.0 * dear), *(op(name, 40.0 * cheap) for name in others))


def test_one_dominant_operator_that_got_dearer_is_not_taken_for_the_machine():
    assert machine_factor(dominated(1, 1), dominated(2, 1)) == 1
    assert kinds(dominated(1, 1), dominated(2, 1)) == [(Kind.DEARER, "mkldnn_convolution")]


def test_many_cheap_operators_that_got_dearer_are_not_taken_for_the_machine():
    assert machine_factor(dominated(1, 1), dominated(1, 2)) == 1
    assert [kind for kind, _ in kinds(dominated(1, 1), dominated(1, 2))] == [Kind.DEARER] * 5


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


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (percent, 0.1234, "12 %"),
        (percent, -0.1234, "12 %"),
        (percent, 0.1, "10 %"),
        (percent, 0.0041, "0.4 %"),
        (signed, 0.5, "+50 %"),
        (signed, -0.055, "-5.5 %"),
        (signed, 0.0, "+0.0 %"),
        (microseconds, 1234.5, "1,234 us"),
        (microseconds, 12.34, "12.3 us"),
        (microseconds, 0.5, "0.5 us"),
        (microseconds, 100.0, "100 us"),
    ],
)
def test_figures_in_words(function, value, text):
    assert function(value) == text


def test_what_streams_through_memory_may_differ_by_half():
    old = profile(op(CONV, 700.0), op("aten::add", 300.0))
    assert kinds(old, profile(op(CONV, 700.0), op("aten::add", 449.0))) == []
    assert kinds(old, profile(op(CONV, 700.0), op("aten::add", 451.0))) == [(Kind.DEARER, "add")]
    assert kinds(old, profile(op(CONV, 700.0), op("aten::add", 400.0)), Rules({}, 0.3)) == [(Kind.DEARER, "add")]


@pytest.mark.parametrize(("grown", "factor"), [(1.5, 1.5), (1.7, 1.0), (4.0, 1.0), (1 / 1.5, 1 / 1.5), (0.5, 1.0)])
def test_no_machine_changes_by_more_than_its_slow_spells(grown, factor):
    old = step()
    new = profile(*(replace(one, self_host_us=grown * one.self_host_us) for one in old.ops))
    assert machine_factor(old, new) == pytest.approx(factor)


def test_a_model_that_grew_as_a_whole_fails():
    old = step()
    findings = found(old, profile(*(replace(one, self_host_us=4 * one.self_host_us) for one in old.ops)))
    assert {finding.kind for finding in findings if finding.fails} == {Kind.DEARER}
    assert len(findings) == len(old.ops)
