"""One measurement's verdict, and what several measurements make of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import finding, op, profile, ratio, step

from pytest_opcost.judge import Kind, Outcome, Rules, Verdict, confirmed, cost, decide, judge, judge_elsewhere
from pytest_opcost.judge.verdict import outcome_of

RULES = Rules({"conv/addmm": 0.10})


def test_nothing_changed():
    assert judge(step(), {"conv/addmm": ratio(2.0)}, step(), RULES) == Verdict(Outcome.PASSED, (), 1.0, 1)


def test_the_machine_s_factor_is_worked_out_once_and_told_with_the_verdict(monkeypatch):
    """The findings follow the same factor that the verdict tells."""
    factors = iter([1.5])
    for room in (cost, decide):
        monkeypatch.setattr(room, "machine_factor", lambda *_: next(factors), raising=False)
    verdict = judge(step(), {}, step(every=1.5), RULES)
    assert (verdict.factor, [one.kind for one in verdict.findings]) == (1.5, [Kind.MACHINE])


def test_what_fails_comes_first_exact_facts_before_ratios_before_operators_the_largest_first():
    new = profile(*step(convolution=1.5, relu=3.0, bernoulli_=0.5).ops, op("aten::copy_", 50.0))
    verdict = judge(step(), {"conv/addmm": ratio(2.0)}, new, RULES)
    assert [(one.kind, one.op) for one in verdict.findings] == [
        (Kind.NEW, "aten::copy_"),
        (Kind.RATIO, "conv/addmm"),
        (Kind.DEARER, "aten::relu"),
        (Kind.DEARER, "aten::mkldnn_convolution"),
        (Kind.CHEAPER, "aten::bernoulli_"),
    ]
    assert verdict.outcome is Outcome.DRIFTED
    assert [one.kind for one in verdict.failing] == [Kind.NEW, Kind.RATIO, Kind.DEARER, Kind.DEARER]


def test_the_largest_change_comes_first_in_either_direction():
    new = step(max_pool2d_with_indices=0.5, relu=0.7, bernoulli_=1.45)
    recorded = {"pool/total": ratio(0.15), "aten::relu/total": ratio(0.1), "random/total": ratio(0.08)}
    verdict = judge(step(), recorded, new, Rules(dict.fromkeys(recorded, 0.1), 0.9))
    assert [one.op for one in verdict.findings if one.kind is Kind.RATIO] == [
        "random/total",
        "pool/total",
        "aten::relu/total",
    ]


def test_an_operator_that_is_called_more_often_is_not_told_as_dearer_besides():
    ops = [replace(one, calls=2, self_host_us=800.0) if "convolution" in one.name else one for one in step().ops]
    assert [one.kind for one in judge(step(), {}, profile(*ops), Rules({})).findings] == [Kind.CALLS]


def test_an_operator_that_varies_is_compared_by_time_alone():
    ops = [replace(one, calls=2, varying=True, self_host_us=800.0) if "conv" in one.name else one for one in step().ops]
    assert [one.kind for one in judge(step(), {}, profile(*ops), Rules({})).findings] == [Kind.DEARER]


def test_the_verdict_holds_the_machine_s_factor():
    verdict = judge(step(), {}, step(every=1.4), RULES)
    assert (verdict.outcome, verdict.factor) == (Outcome.PASSED, pytest.approx(1.4))


def test_elsewhere_only_exact_facts_are_compared():
    assert judge_elsewhere(step(), step(convolution=5.0)) == Verdict(Outcome.NOT_JUDGED, cost_judged=False)
    verdict = judge_elsewhere(step(), profile(*step().ops[:-1]))
    assert verdict.outcome is Outcome.DRIFTED
    assert [one.kind for one in verdict.findings] == [Kind.GONE]


@pytest.mark.parametrize(
    ("kinds", "outcome"),
    [
        ([], Outcome.PASSED),
        ([Kind.CHEAPER, Kind.MACHINE, Kind.UNKNOWN], Outcome.PASSED),
        ([Kind.NOISE, Kind.CHEAPER], Outcome.INCONCLUSIVE),
        ([Kind.NOISE, Kind.DEARER], Outcome.DRIFTED),
        ([Kind.CALLS], Outcome.DRIFTED),
    ],
)
def test_outcomes(kinds, outcome):
    assert outcome_of(finding(kind) for kind in kinds) is outcome


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (finding(Kind.DEARER), finding(Kind.NOISE, change=0.1), True),
        (finding(Kind.DEARER, change=0.5), finding(Kind.CHEAPER, change=-0.5), False),
        (finding(Kind.DEARER), finding(Kind.NOISE, change=0.0), False),
        (finding(Kind.DEARER), finding(Kind.DEARER, "aten::add"), False),
        (finding(Kind.NEW, change=0.0), finding(Kind.GONE, change=0.0), False),
        (finding(Kind.NEW, change=0.0), finding(Kind.NEW, change=0.0, message="other words"), True),
    ],
)
def test_what_makes_two_findings_the_same(one, other, same):
    assert (one.key == other.key) is same


class Measurements:
    """Measurements by their total, each with the kinds of its findings; counts how many were asked for."""

    def __init__(self, *measurements):
        self.made = [
            (profile(op("aten::mm", total)), Verdict(outcome_of(findings), tuple(findings), factor=total))
            for total, *findings in measurements
        ]
        self.taken = 1

    def again(self):
        self.taken += 1
        return self.made[self.taken - 1]  # an IndexError where more are asked for than there are

    def verdict(self, most=4):
        cost, verdict = confirmed(self.made[0], self.again, most)
        assert verdict.measurements == self.taken
        quietest = min(self.made[: self.taken], key=lambda pair: pair[0].total_us)
        assert cost is quietest[0]
        assert verdict.factor == quietest[1].factor
        return verdict


DEARER, NOISE, EXACT = finding(), finding(Kind.NOISE), finding(Kind.NEW, change=0.0)


def test_a_step_that_passes_is_measured_once():
    made = Measurements([100, finding(Kind.CHEAPER)])
    assert made.verdict().outcome is Outcome.PASSED
    assert made.taken == 1


def test_a_drift_that_every_measurement_shows_fails():
    made = Measurements(*[[total, DEARER] for total in (100, 101, 99, 100, 102)])
    verdict = made.verdict()
    assert (verdict.outcome, verdict.measurements) == (Outcome.DRIFTED, 5)
    assert verdict.findings == (DEARER,)


def test_measuring_ends_as_soon_as_one_as_quiet_does_not_show_it():
    made = Measurements([100, DEARER], [101], [100, DEARER])
    verdict = made.verdict()
    assert (made.taken, verdict.outcome, verdict.findings) == (2, Outcome.PASSED, ())


def test_measuring_ends_as_soon_as_a_quieter_one_does_not_show_it():
    made = Measurements([150, DEARER], [100])
    assert (made.verdict().outcome, made.taken) == (Outcome.PASSED, 2)


def test_slow_spells_neither_confirm_nor_contradict():
    contradicted = Measurements([100, DEARER], [200], [101, DEARER], [100, DEARER], [150])
    assert contradicted.verdict().outcome is Outcome.DRIFTED
    lonely = Measurements([100, DEARER], [200, DEARER], [150, DEARER], [120, DEARER], [111, DEARER])
    unseen = Measurements([100, DEARER], [200], [150], [120], [130])
    for made in (lonely, unseen):
        verdict = made.verdict()
        assert verdict.outcome is Outcome.INCONCLUSIVE
        (told,) = verdict.findings
        assert (told.kind, told.fails) == (Kind.NOISE, False)
        assert told.message == "aten::mm moved; not confirmed: the machine is not steady enough"


def test_as_quiet_is_within_a_tenth():
    assert Measurements([100, DEARER], [109, DEARER]).verdict(most=1).outcome is Outcome.DRIFTED
    assert Measurements([100, DEARER], [111, DEARER]).verdict(most=1).outcome is Outcome.INCONCLUSIVE


def test_noise_confirms_what_another_measurement_told_aloud():
    made = Measurements([100, DEARER], [101, NOISE], [102, DEARER], [103, NOISE], [104, NOISE])
    assert made.verdict().outcome is Outcome.DRIFTED


def test_drift_in_opposite_directions_is_none():
    assert (
        Measurements([100, finding(Kind.RATIO)], [101, finding(Kind.RATIO, change=-0.5)], [99]).verdict().findings == ()
    )


def test_a_drift_that_some_but_not_all_quiet_ones_show_is_inconclusive():
    made = Measurements([100, DEARER, EXACT], [101, DEARER, EXACT], [102, EXACT], [103, EXACT], [104, DEARER, EXACT])
    verdict = made.verdict()
    assert [(one.kind, one.fails) for one in verdict.findings] == [(Kind.NEW, True), (Kind.NOISE, False)]


def test_noise_with_a_change_is_measured_again_and_noise_without_one_is_not():
    made = Measurements([100, NOISE], [101, NOISE], [99])
    assert (made.verdict().outcome, made.taken) == (Outcome.PASSED, 3)
    wide = Measurements([100, finding(Kind.NOISE, change=0.0)])
    assert (wide.verdict().outcome, wide.taken) == (Outcome.INCONCLUSIVE, 1)


def test_an_exact_change_is_certain_once_it_was_reproduced():
    made = Measurements([100, EXACT], [101, EXACT], [102])
    assert (made.verdict().outcome, made.taken) == (Outcome.DRIFTED, 2)


@pytest.mark.parametrize("totals", [(100, 150), (150, 100)])
def test_an_exact_change_does_not_depend_on_quiet(totals):
    made = Measurements(*[[total, EXACT] for total in totals])
    assert (made.verdict().outcome, made.taken) == (Outcome.DRIFTED, 2)


def test_an_exact_change_that_was_not_reproduced_does_not_fail():
    made = Measurements([100, EXACT], [150])
    assert (made.verdict().outcome, made.taken) == (Outcome.PASSED, 2)


def test_an_exact_change_and_a_drift_are_measured_to_the_end():
    made = Measurements(*[[100, EXACT, DEARER]] * 5)
    assert (made.verdict().outcome, made.taken) == (Outcome.DRIFTED, 5)


def test_no_further_measurements_means_the_first_impression_counts():
    for first in (DEARER, EXACT):
        made = Measurements([100, first])
        assert (made.verdict(most=0).outcome, made.taken) == (Outcome.DRIFTED, 1)


def test_one_further_measurement():
    assert Measurements([100, DEARER], [100, DEARER]).verdict(most=1).outcome is Outcome.DRIFTED
    assert Measurements([100, DEARER], [100]).verdict(most=1).outcome is Outcome.PASSED


def test_what_does_not_fail_is_told_as_the_quietest_measurement_saw_it():
    made = Measurements([120, DEARER, finding(Kind.CHEAPER, "aten::add")], [100, finding(Kind.UNKNOWN, "copy/total")])
    assert [one.op for one in made.verdict().findings] == ["copy/total"]


def test_a_cost_that_is_not_judged_is_not_judged_after_confirming_either():
    first = (step(), judge_elsewhere(step(), step()))
    assert confirmed(first, lambda: first, 4)[1].outcome is Outcome.NOT_JUDGED


def test_an_exact_change_elsewhere_that_was_not_reproduced_leaves_the_cost_not_judged():
    old, less = step(), profile(*step(every=0.5).ops[:-1])
    first, second = ((new, judge_elsewhere(old, new)) for new in (less, step()))
    assert confirmed(first, lambda: second, 1)[1].outcome is Outcome.NOT_JUDGED
