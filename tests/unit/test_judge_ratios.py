"""How declared ratios are judged: their band, both ways, and which side is said to have moved."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import on_device, op, profile, ratio, step

from pytest_opcost.judge import Kind, Rules
from pytest_opcost.judge.cost import cost_findings, machine_factor

RULES = Rules({"conv/addmm": 0.10}, 9.0)  # a tolerance that leaves operators alone
STORED = {"conv/addmm": ratio(2.0)}


def found(old, new, recorded=STORED, rules=RULES):
    findings = cost_findings(old, recorded, new, rules, machine_factor(old, new), set())
    return [one for one in findings if one.family == "ratio"]


@pytest.mark.parametrize("factor", [1.09, 1 / 1.09])
def test_a_ratio_within_its_band(factor):
    assert found(step(), step(convolution=factor)) == []


@pytest.mark.parametrize(
    ("changes", "now", "words"),
    [
        (
            {"convolution": 1.3},
            2.6,
            "(+30 %, band 10 %): conv moved, conv 400 us -> 520 us (+30 %); addmm 200 us -> 200",
        ),
        (
            {"convolution": 0.8},
            1.6,
            "(-20 %, band 10 %): conv moved, conv 400 us -> 320 us (-20 %); addmm 200 us -> 200",
        ),
        (
            {"addmm": 1.25},
            1.6,
            "(-20 %, band 10 %): addmm moved, addmm 200 us -> 250 us (+25 %); conv 400 us -> 400 us",
        ),
        ({"addmm": 0.8}, 2.5, "(+25 %, band 10 %): addmm moved, addmm 200 us -> 160 us (-20 %); conv 400 us -> 400 us"),
    ],
)
def test_a_ratio_outside_its_band_either_way_names_the_side_that_moved(changes, now, words):
    (finding,) = found(step(), step(**changes))
    assert (finding.kind, finding.op, finding.fails) == (Kind.RATIO, "conv/addmm", True)
    assert (finding.baseline, finding.current) == (2.0, pytest.approx(now))
    assert finding.change == pytest.approx(now / 2 - 1)
    assert finding.message.startswith(f"conv/addmm: {now:.3g}, was 2 {words}")


def test_both_sides_moved():
    (finding,) = found(step(), step(convolution=1.3, addmm=0.8))
    assert finding.message.endswith(
        "): both sides moved, conv 400 us -> 520 us (+30 %) and addmm 200 us -> 160 us (-20 %)"
    )


def test_a_side_that_moved_less_than_half_as_far_did_not_move():
    (finding,) = found(step(), step(convolution=1.5, addmm=1 / 1.17))
    assert "): conv moved, " in finding.message


def test_the_sides_of_a_very_short_step():
    old, new = step(every=0.001), step(convolution=1.5, every=0.001)
    (finding,) = found(on_device(old), on_device(new))
    assert finding.message.endswith("): conv moved, conv 0.4 us -> 0.6 us (+50 %); addmm 0.2 us -> 0.2 us (+0.0 %)")


def test_the_common_factor_is_no_move_of_a_side():
    (finding,) = found(step(), step(convolution=1.6, every=1.3))
    assert "conv moved, conv 400 us -> 832 us (+108 %); addmm 200 us -> 260 us (+30 %)" in finding.message


def test_a_slow_machine_leaves_a_ratio_alone_and_widens_its_band():
    assert found(step(), step(every=1.5)) == []
    (finding,) = found(step(), step(convolution=1.2, every=1.3))
    assert (finding.kind, finding.fails) == (Kind.NOISE, False)
    assert finding.message == "conv/addmm: 2.4, was 2 (+20 %): the machine is busier or slower; only above 43 % is told"


@pytest.mark.parametrize(("factor", "kind"), [(1.2, Kind.NOISE), (1.4, Kind.RATIO)])
def test_load_widens_a_ratio_s_band(factor, kind):
    (finding,) = found(step(), replace(step(convolution=factor), load=1.0))
    assert (finding.kind, finding.fails) == (kind, kind is Kind.RATIO)
    assert finding.change == pytest.approx(factor - 1)


def test_load_does_not_widen_a_ratio_of_device_times():
    (finding,) = found(on_device(step()), replace(on_device(step(convolution=1.2)), load=1.0))
    assert finding.kind is Kind.RATIO


@pytest.mark.parametrize(("factor", "count"), [(1.38, 0), (1.42, 1)])
def test_a_ratio_s_band_widens_to_twice_its_recorded_spread(factor, count):
    assert len(found(step(), step(convolution=factor), {"conv/addmm": ratio(2.0, 0.2)})) == count


@pytest.mark.parametrize("band", [0.05, 0.5])
def test_a_declared_band(band):
    rules = Rules({"conv/addmm": band}, 9.0)
    assert found(step(), step(convolution=1 + band * 0.9), rules=rules) == []
    (finding,) = found(step(), step(convolution=1 + band * 1.1), rules=rules)
    assert f", band {100 * band:.0f}" in finding.message


@pytest.mark.parametrize("stored", [3.0, 1.5])
def test_a_ratio_that_was_edited_by_hand_must_fit_the_rows_too(stored):
    (finding,) = found(step(), step(), {"conv/addmm": ratio(stored)})
    assert (finding.baseline, finding.current, finding.fails) == (stored, 2.0, True)
    (finding,) = found(step(), step(addmm=2.0 / stored), {"conv/addmm": ratio(stored)})
    assert (finding.baseline, finding.current) == (2.0, pytest.approx(stored))


def test_a_stored_ratio_whose_rows_are_gone_is_judged_by_itself():
    old = profile(*(one for one in step().ops if one.family != "addmm"))
    (finding,) = found(old, step(convolution=1.5))
    assert (finding.kind, finding.baseline, finding.current) == (Kind.RATIO, 2.0, 3.0)


def test_a_declared_ratio_that_is_not_in_the_baseline_is_told_and_does_not_fail():
    (finding,) = found(step(), step(), rules=Rules({"pool/total": 0.1, "conv/addmm": 0.1}))
    assert (finding.kind, finding.op, finding.fails) == (Kind.UNKNOWN, "pool/total", False)
    assert finding.message == (
        "pool/total: not judged, it is not in the baseline; record it with --opcost-update-baselines"
    )
    assert (finding.baseline, finding.current) == (None, pytest.approx(0.15))


def test_a_declared_ratio_that_is_not_in_this_step_is_told():
    recorded = {"copy/total": ratio(0.2)}
    (finding,) = found(step(), step(), recorded, Rules({"copy/total": 0.1}))
    assert finding.kind is Kind.UNKNOWN
    assert finding.message.startswith("copy/total: not judged, it is not in this step;")
    assert (finding.baseline, finding.current) == (0.2, None)


@pytest.mark.parametrize(("recorded", "name"), [({}, "conv/addmm"), ({}, "copy/attention")])
def test_the_default_ratio_and_one_that_neither_side_has_are_passed_over(recorded, name):
    assert found(step(), step(), recorded, Rules({name: 0.1})) == []


def test_a_ratio_that_is_not_declared_is_not_judged():
    assert found(step(), step(convolution=3.0), rules=Rules({}, 9.0)) == []


def test_the_forward_form_is_judged_by_itself():
    def training(forward):
        return profile(op("aten::conv2d", 40.0, forward=forward), op("aten::mm", 20.0, forward=0.5))

    recorded = {"conv/addmm": ratio(2.0), "conv/addmm forward": ratio(2.0)}
    assert found(training(0.5), training(0.5), recorded) == []
    (finding,) = found(training(0.5), training(0.75), recorded)
    assert finding.op == "conv/addmm forward"
    assert finding.message.startswith(
        "conv/addmm forward: 3, was 2 (+50 %, band 10 %): conv moved, conv 20 us -> 30 us (+50 %); addmm 10 us -> 10 us"
    )
