"""From a first measurement to the verdict: what is measured again, when it ends, and what fails then."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

pytest.importorskip("numpy")

from judging import noisy, reference, rounds
from records import CUDA, finding, on_device, op, profile, step

from pytest_opcost.judge import (
    SUSPICIOUS,
    Again,
    Kind,
    Outcome,
    Reference,
    Rules,
    Verdict,
    confirmed,
    judge,
    judge_elsewhere,
    reproduced,
)
from pytest_opcost.judge.decide import FEWEST_ROUNDS, _undecidable
from pytest_opcost.judge.verdict import outcome_of

DEARER, NOISE, EXACT = finding(), finding(Kind.NOISE), finding(Kind.NEW, change=0.0)


def said(*findings, score=None, disturbed=()):
    """A verdict with these findings, and the score that goes with them."""
    kinds = {one.kind for one in findings}
    usual = 9.0 if Kind.DEARER in kinds else 3.0 if Kind.NOISE in kinds else 0.0
    return Verdict(outcome_of(findings), findings, score=usual if score is None else score, disturbed=disturbed)


class Script:
    """What is said of the first measurement, of one more here, and of fresh rounds as they get more."""

    def __init__(self, first, second=None, *fresh):
        self.first, self.second, self.fresh = first, second, fresh
        self.taken_here = self.taken_fresh = 0

    def profile(self, name, total=100.0):
        return profile(op(f"aten::{name}", total))

    def again(self, most):
        def here():
            self.taken_here += 1
            return self.profile("second")

        def fresh():
            self.taken_fresh += 1
            return self.profile("fresh")

        return Again(here, fresh, most)

    def judged(self, measured):
        name = measured[0].ops[0].name
        if name == "aten::fresh":
            return self.fresh[len(measured) - 1]
        return self.first if name == "aten::first" else self.second

    def verdict(self, most=12, total=101.0):
        cost, verdict = confirmed(self.profile("first", total), self.judged, self.again(most))
        assert verdict.measurements == 1 + self.taken_here + self.taken_fresh
        assert {one.name for one in cost.ops} <= {"aten::first", "aten::second", "aten::fresh"}
        return verdict


def test_what_passes_is_measured_once():
    script = Script(said(finding(Kind.CHEAPER), score=SUSPICIOUS))
    assert (script.verdict().outcome, script.taken_here) == (Outcome.PASSED, 0)


def test_a_suspicion_that_a_quieter_measurement_here_does_not_share_ends_there():
    script = Script(said(DEARER), said())
    assert (script.verdict().outcome, script.taken_here, script.taken_fresh) == (Outcome.PASSED, 1, 0)


def test_of_two_measurements_here_the_quieter_one_counts():
    louder = Script(said(NOISE), said(DEARER), said())
    louder.verdict(total=101.0)
    assert louder.taken_fresh == 1
    quieter = Script(said(NOISE), said(score=0.0), said())
    quieter.verdict(total=99.0)
    assert quieter.taken_fresh == 1


def test_fresh_rounds_confirm_as_soon_as_there_are_enough():
    script = Script(said(DEARER), said(DEARER), *[said(DEARER)] * 12)
    verdict = script.verdict()
    assert (verdict.outcome, verdict.findings, script.taken_fresh) == (Outcome.DRIFTED, (DEARER,), FEWEST_ROUNDS)


def test_fresh_rounds_that_make_it_unlikely_end_it():
    script = Script(said(DEARER), said(DEARER), said(score=0.4))
    assert (script.verdict().outcome, script.taken_fresh) == (Outcome.PASSED, 1)
    later = Script(said(DEARER), said(DEARER), *[said(score=0.9)] * 12)
    assert (later.verdict().outcome, later.taken_fresh) == (Outcome.PASSED, FEWEST_ROUNDS)


def test_what_stays_in_doubt_is_inconclusive_after_all_rounds():
    script = Script(said(DEARER), said(DEARER), *[said(NOISE)] * 12)
    verdict = script.verdict(most=7)
    assert (verdict.outcome, verdict.failing, script.taken_fresh) == (Outcome.INCONCLUSIVE, (), 7)


@pytest.mark.parametrize("other", [DEARER, NOISE])
def test_what_also_costs_more_where_something_exact_fails_is_told_as_not_confirmed(other):
    script = Script(said(EXACT, DEARER), said(EXACT, other))
    verdict = script.verdict(total=99.0)
    assert (verdict.failing, script.taken_fresh) == ((EXACT,), 0)
    (doubted,) = set(verdict.findings) - {EXACT}
    assert (doubted.kind, doubted.op, doubted.message) == (Kind.NOISE, DEARER.op, f"{DEARER.message}: not confirmed")


def test_a_ratio_that_moved_beside_something_exact_is_not_told():
    ratio = finding(Kind.RATIO, "conv/addmm")
    assert Script(said(EXACT, ratio, score=9.0), said(EXACT, ratio, score=9.0)).verdict().findings == (EXACT,)


@pytest.mark.parametrize("total", [99.0, 101.0])
@pytest.mark.parametrize("findings", [[(EXACT, DEARER), (EXACT,)], [(EXACT,), (EXACT, DEARER)]])
def test_what_costs_more_in_one_of_two_measurements_is_not(findings, total):
    verdict = Script(*(said(*one, score=3.0) for one in findings)).verdict(total=total)
    assert verdict.findings == (EXACT,)


def test_too_few_rounds_confirm_nothing():
    script = Script(said(DEARER), said(DEARER), *[said(DEARER)] * 12)
    assert script.verdict(most=FEWEST_ROUNDS - 1).failing == ()


def test_a_disturbed_measurement_is_made_again_here_and_counts_where_it_is_calm_then():
    calm = Script(said(DEARER, disturbed=(0,)), said())
    assert (calm.verdict().findings, calm.taken_here, calm.taken_fresh) == ((), 1, 0)
    still = Script(said(NOISE, score=0.0, disturbed=(0,)), said(score=0.0, disturbed=(0,)))
    assert (still.verdict().findings, still.taken_here, still.taken_fresh) == ((NOISE,), 1, 0)
    judged_once = Script(said(NOISE, score=0.0, disturbed=(0,)))
    assert (judged_once.verdict(most=0).findings, judged_once.taken_here) == ((NOISE,), 0)


def test_disturbed_rounds_neither_confirm_nor_clear():
    one_calm = [said(score=0.1, disturbed=(0, 1, 2)), said(DEARER, disturbed=(0, 1, 2))]
    unknown = [said(score=0.1, disturbed=tuple(range(n))) for n in (1, 2, 3)]
    more = [said(DEARER, disturbed=(0, 1, 2))] * 3
    script = Script(said(DEARER), said(DEARER), *unknown, one_calm[1], *more)
    assert (script.verdict().outcome, script.taken_fresh) == (Outcome.DRIFTED, 3 + FEWEST_ROUNDS)


def test_rounds_that_are_all_disturbed_end_halfway_where_they_show_little():
    script = Script(said(DEARER), said(DEARER), *[said(score=0.1, disturbed=tuple(range(n + 1))) for n in range(12)])
    assert (script.verdict().outcome, script.taken_fresh) == (Outcome.PASSED, 6)


def test_what_too_few_rounds_that_compare_say_is_in_doubt():
    """It is neither certain nor gone: a baseline that was made on a busy machine must not hide a drift."""
    few = [said(DEARER, disturbed=tuple(range(max(n - 2, 0)))) for n in range(1, 13)]
    verdict = Script(said(DEARER), said(DEARER), *few).verdict()
    assert (verdict.outcome, verdict.failing) == (Outcome.INCONCLUSIVE, ())
    assert [one.message for one in verdict.findings] == [
        "aten::mm moved: not confirmed",
        "2 of 12 fresh processes had as much of the core as the baseline's, 4 are needed: measure again while the "
        "machine is calm, or record the baseline anew",
    ]


def test_times_are_those_of_the_rounds_that_compare():
    known = reference(replace(step(), pace_us=5.0))
    calm = rounds(replace(step(), pace_us=5.0), 4)
    shared = rounds(replace(step(mkldnn_convolution=1.1, relu=1.6), pace_us=7.0), 4)
    together = judge(known, [*shared[:3], *calm], Rules({}))
    assert (together.disturbed, together.outcome) == ((0, 1, 2), Outcome.PASSED)
    alone = judge(known, shared, Rules({}))
    assert (alone.disturbed, alone.outcome) == ((0, 1, 2, 3), Outcome.INCONCLUSIVE)
    assert any("shared the core" in one.message for one in alone.findings)
    unaware = judge(reference(), rounds(step(mkldnn_convolution=1.1, relu=1.6), 4), Rules({}))
    assert unaware.outcome is Outcome.DRIFTED


def test_what_is_hardly_suspicious_any_more_ends_halfway():
    script = Script(said(DEARER), said(DEARER), *[said(score=1.5)] * 12)
    assert (script.verdict().outcome, script.taken_fresh) == (Outcome.PASSED, 6)


def on_another_card(seed, by, *, own, most=12, clock=on_device):
    """How many fresh rounds are asked for, and the verdict, where another card's convolution is dearer by a part."""
    recorded, now = (
        replace(clock(step(every=10.0, **moved)), environment=replace(CUDA, details=(("card", card),)))
        for card, moved in (("GPU-1", {}), ("GPU-2", {"convolution": 1 + by}))
    )
    known, draw, fresh = reference(recorded, own=own, common=0.0), random.Random(seed), []

    def one():
        fresh.append(noisy(now, draw, own=own, common=0.0))
        return fresh[-1]

    first = noisy(now, draw, own=own, common=0.0)
    _, verdict = confirmed(first, lambda made: judge(known, made, Rules({})), Again(lambda: first, one, most))
    return len(fresh), verdict


def test_what_no_number_of_rounds_could_decide_is_given_up():
    """What two cards differ by is in every round: a change within it stays in doubt."""
    found = [on_another_card(seed, 0.036, own=0.002) for seed in range(20)]
    assert {verdict.outcome for _, verdict in found} == {Outcome.INCONCLUSIVE}
    assert 0 == min(taken for taken, _ in found) <= max(taken for taken, _ in found) < FEWEST_ROUNDS
    clear = [on_another_card(seed, 0.08, own=0.002) for seed in range(20)]
    assert {(taken, verdict.outcome) for taken, verdict in clear} == {(FEWEST_ROUNDS, Outcome.DRIFTED)}


def test_what_further_rounds_may_decide_is_not_given_up():
    found = [on_another_card(seed, 0.052, own=0.005) for seed in range(20)]
    assert sum(verdict.outcome is Outcome.DRIFTED for _, verdict in found) >= 18
    assert {taken for taken, _ in found} - {FEWEST_ROUNDS}


#: LeNet's training at batch 1 on two H200 cards, one and the slowest of seven: microseconds a step (measured).
TWO_CARDS = {
    "aten::_foreach_mul_": (29.39, 28.5),
    "aten::_foreach_sqrt_": (24.13, 26.21),
    "aten::convolution_backward": (22.74, 22.81),
    "aten::_foreach_addcmul_": (19.27, 21.0),
    "aten::_foreach_add": (19.91, 19.58),
    "aten::_foreach_add_": (14.68, 13.79),
    "aten::_foreach_div_": (12.99, 14.28),
    "aten::cudnn_convolution": (12.69, 12.77),
    "aten::sum": (10.86, 11.65),
    "aten::mm": (11.07, 11.2),
    "aten::addmm": (7.15, 7.3),
}


def test_the_slowest_card_that_was_seen_is_far_from_failing():
    one, slowest = (
        replace(
            on_device(profile(*(op(name, us[card]) for name, us in TWO_CARDS.items()))),
            environment=replace(CUDA, details=(("card", f"GPU-{card}"),)),
        )
        for card in (0, 1)
    )
    found = judge(reference(one, own=0.001, common=0.0), rounds(slowest, 5, own=0.001, common=0.0), Rules({}, tests=12))
    assert SUSPICIOUS < found.score < 0.6 * found.critical


@pytest.mark.parametrize(
    ("now", "then", "given_up"),
    [
        ({"mm": (4.0, 1.0)}, {"mm": (4.1, 0.97)}, True),
        ({"mm": (4.0, 1.0)}, {"mm": (6.0, 0.66)}, False),
        ({"mm": (4.0, 1.0)}, {"mm": (4.9, 0.81)}, False),
        ({"mm": (4.0, 1.0), "add": (3.9, 1.0)}, {"mm": (4.1, 0.97), "add": (5.5, 0.7)}, False),
        ({"mm": (4.0, 1.0), "add": (0.5, 1.0)}, {"mm": (4.1, 0.97), "add": (0.4, 1.1)}, True),
        ({"mm": (4.0, 1.0)}, {"mm": (3.9, 1.02)}, False),
    ],
    ids=["hardly narrowed", "certain then", "may move so far", "the second may", "the second is calm", "noisier"],
)
def test_it_is_given_up_where_no_figure_may_come_to_fail(now, then, given_up):
    known = replace(said(NOISE, score=4.0), critical=6.0, scores=now)
    later = replace(known, score=max(score for score, _ in then.values()), scores=then)
    one = on_device(step())

    def judged(measured):
        assert len(measured) == 12
        return later

    assert _undecidable(known, [one] * 3, judged, 12) is given_up
    assert not _undecidable(replace(known, findings=(DEARER,)), [one] * 3, judged, 12)
    assert not _undecidable(known, [step()] * 3, judged, 12)


def test_on_a_host_whose_noise_has_heavy_tails_nothing_is_given_up():
    taken, verdict = on_another_card(3, 0.05, own=0.002, clock=lambda host: host)
    assert (taken, verdict.outcome) == (12, Outcome.INCONCLUSIVE)


def test_what_is_certainly_cheaper_needs_no_more_rounds_than_what_is_dearer():
    cheaper = said(finding(Kind.CHEAPER), score=9.0)
    script = Script(cheaper, cheaper, *[cheaper] * 12)
    assert (script.verdict().outcome, script.taken_fresh) == (Outcome.PASSED, FEWEST_ROUNDS)
    doubtful = said(finding(Kind.CHEAPER), NOISE, score=9.0)
    script = Script(doubtful, doubtful, *[doubtful] * 12)
    assert (script.verdict().outcome, script.taken_fresh) == (Outcome.INCONCLUSIVE, 12)


def test_what_is_cheaper_is_confirmed_as_well_where_it_fails():
    failing = said(finding(Kind.CHEAPER, fails=True), score=9.0)
    confirmed_once = Script(failing, failing, *[failing] * 12)
    assert (confirmed_once.verdict().outcome, confirmed_once.taken_fresh) == (Outcome.DRIFTED, FEWEST_ROUNDS)
    dropped = Script(failing, failing, said(score=0.1))
    assert (dropped.verdict().outcome, dropped.taken_fresh) == (Outcome.PASSED, 1)


def test_an_exact_change_is_certain_once_it_was_reproduced_here():
    script = Script(said(EXACT, DEARER), said(EXACT))
    verdict = script.verdict()
    assert (verdict.outcome, script.taken_here, script.taken_fresh) == (Outcome.DRIFTED, 1, 0)
    assert EXACT in verdict.findings


@pytest.mark.parametrize("total", [99.0, 101.0])
def test_an_exact_change_that_was_not_reproduced_does_not_fail(total):
    assert Script(said(EXACT), said()).verdict(total=total).failing == ()


def test_without_further_measurements_the_first_counts():
    for first in (DEARER, EXACT):
        script = Script(said(first))
        assert (script.verdict(most=0).outcome, script.taken_here) == (Outcome.DRIFTED, 0)


def test_of_a_verdict_only_what_a_second_one_shows_too_stays_exact():
    other = finding(Kind.GONE, "aten::add", change=0.0)
    kept = reproduced(said(EXACT, other, DEARER), said(EXACT))
    assert kept.failing == (EXACT, DEARER)
    assert kept.findings == kept.failing


def test_times_of_fresh_rounds_are_told_with_the_facts_that_were_read_here():
    from pytest_opcost.facts import OpFacts

    facts = OpFacts(flops=7)
    here = profile(op("aten::mm", 10_000.0, facts=facts), op("aten::add", 9_000.0))
    timed = [profile(op("aten::mm", us), op("aten::add", 9_000.0)) for us in (16_000.0, 15_000.0, 17_000.0, 16_000.0)]
    made = iter(timed)
    cost, verdict = confirmed(here, lambda _: said(DEARER), Again(lambda: here, lambda: next(made), 4))
    assert (cost.by_name()["aten::mm"].self_host_us, cost.by_name()["aten::mm"].facts) == (16_000.0, facts)
    assert verdict.measurements == 6


def test_elsewhere_only_exact_facts_are_compared():
    assert judge_elsewhere(step(), step(convolution=5.0)) == Verdict(Outcome.NOT_JUDGED, cost_judged=False)
    verdict = judge_elsewhere(step(), profile(*step().ops[:-1]))
    assert (verdict.outcome, [one.kind for one in verdict.findings]) == (Outcome.DRIFTED, [Kind.GONE])


def test_a_cost_that_is_not_judged_is_not_judged_after_confirming_either():
    less = profile(*step().ops[:-1])
    _, verdict = confirmed(less, lambda made: judge_elsewhere(step(), made[0]), Again(step, step, 4))
    assert verdict.outcome is Outcome.NOT_JUDGED


def test_exact_findings_come_before_ratios_and_these_before_operators():
    new = profile(*(replace(one, self_host_us=one.self_host_us * 100) for one in step(convolution=1.5).ops))
    new = profile(*new.ops, op("aten::copy_", 5000.0))
    found = judge(reference(step(every=100.0)), rounds(new, 6), Rules({"conv/addmm": None}))
    assert [one.kind for one in found.failing] == [Kind.NEW, Kind.RATIO, Kind.DEARER]


def test_an_operator_that_is_called_more_often_is_not_told_as_dearer_besides():
    ops = [replace(one, calls=2, self_host_us=800.0) if "convolution" in one.name else one for one in step().ops]
    found = judge(reference(), [profile(*ops)], Rules({}))
    assert Kind.CALLS in [one.kind for one in found.findings]
    assert "aten::mkldnn_convolution" not in [one.op for one in found.findings if one.kind is Kind.DEARER]


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


def run(draw, slower=None):
    """A run in a session of its own: a first measurement and fresh rounds, all off by that session's mood."""
    true = profile(
        *(
            replace(one, self_host_us=one.self_host_us * 100)
            for one in (step() if slower is None else step(convolution=slower)).ops
        )
    )
    mood = noisy(true, draw, own=0.005, common=0.02)

    def one():
        return noisy(mood, draw, own=0.015, common=0.03)

    first = one()
    known = reference(step(every=100.0), (5,), seed=draw.randrange(2**31), own=0.015, common=0.03)
    rules = Rules({"conv/addmm": None}, tests=12)
    _, verdict = confirmed(first, lambda made: judge(known, made, rules), Again(lambda: first, one, 12))
    return verdict


def test_clean_runs_pass_and_slower_ones_are_caught():
    """Made-up runs with noise as it was measured: the rates that are published are of real ones, see verdicts.py."""
    draw = random.Random(11)
    assert [bool(run(draw).failing) for _ in range(600)].count(True) == 0
    caught = [[one.op for one in run(draw, slower=1.15).failing] for _ in range(100)]
    assert sum("aten::mkldnn_convolution" in names for names in caught) >= 88
    assert all(set(names) <= {"aten::mkldnn_convolution", "conv/addmm"} for names in caught)


def test_what_was_compared_is_told_with_its_band():
    before = reference(step())
    verdict = judge(before, [step(addmm=2.0)], Rules({}))
    compared = {one.op: one for one in verdict.compared}
    found = compared["aten::addmm"]
    assert (found.before_us, found.now_us) == (before.profile.by_name()["aten::addmm"].self_host_us, 400.0)
    # The band is where suspicion begins: outside of it lies what findings name, and nothing else.
    assert {name for name, one in compared.items() if not one.within} == {one.op for one in verdict.findings} != set()


def test_of_many_cheap_operators_the_dearest_is_told_at_least():
    cost = profile(*(op(f"aten::small{i}", 1_000.0 + i) for i in range(30)))
    seen = dict(judge(Reference(cost, (5,)), [cost], Rules({})).seen)
    assert list(seen) == ["aten::small29"]


def test_what_would_have_been_seen_is_told_of_ratios_too():
    found = judge(reference(step(every=100.0)), rounds(step(every=100.0), 3), Rules({"conv/addmm": None}))
    assert dict(found.seen)["conv/addmm"] > 0
    assert 0 < dict(found.seen)["aten::mkldnn_convolution"] < 0.2
