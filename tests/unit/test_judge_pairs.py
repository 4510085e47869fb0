"""Rounds of two commits in pairs: only those count whose two sides had the core in the same way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from judging import rounds
from records import on_device, step

from pytest_opcost.costs import with_ops
from pytest_opcost.judge import SUSPICIOUS, Kind, Outcome, Rules, compared_rounds, judge_pairs
from pytest_opcost.judge.timing.paired import FEWEST_TO_AGREE
from pytest_opcost.merging import averaged, repetitions_of

NAME = step().ops[1].name


def dearer(cost, by):
    def one(op):
        return replace(op, self_host_us=op.self_host_us * by, samples=tuple(us * by for us in op.samples))

    return with_ops(cost, (one(op) if op.name == NAME else op for op in cost.ops))


def paced(profiles, *paces):
    return [replace(one, pace_us=pace) for one, pace in zip(profiles, paces)]


BASE = paced(rounds(step(), 6, seed=1), *[5.0] * 6)
HEAD = paced(rounds(step(), 6, seed=2), *[5.0] * 6)
SLOWER = [dearer(one, 1.5) for one in HEAD]


def test_pairs_alike_are_judged_by_time():
    assert judge_pairs(HEAD, BASE, Rules({})).outcome is Outcome.PASSED
    assert [one.op for one in judge_pairs(SLOWER, BASE, Rules({})).failing] == [NAME]


def test_pairs_unlike_do_not_count():
    """Two of six heads ran beside a neighbour, where everything is far dearer."""
    head = [*HEAD[:4], *(dearer(one, 9.0) for one in HEAD[4:])]
    head = paced(head, 5.0, 5.0, 5.0, 5.0, 8.0, 8.0)
    assert judge_pairs(head, BASE, Rules({})).outcome is Outcome.PASSED
    head = [*SLOWER[:4], *(dearer(one, 1 / 9) for one in HEAD[4:])]
    assert judge_pairs(paced(head, 5.0, 5.0, 5.0, 5.0, 8.0, 8.0), BASE, Rules({})).failing


def test_too_few_alike_fail_no_cost_and_say_so():
    head = paced(SLOWER, 5.0, 5.0, 5.0, 8.0, 8.0, 8.0)
    verdict = judge_pairs(head, BASE, Rules({}))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    (said,) = [one.message for one in verdict.findings if one.kind is Kind.NOISE and one.op == "core"]
    assert said.startswith("in 3 of 6 pairs of rounds both sides had the core in the same way: too few")
    assert not judge_pairs(paced(HEAD, *[8.0] * 6), BASE, Rules({})).failing


def test_exact_facts_need_no_core():
    more = [with_ops(one, (*one.ops, replace(one.ops[0], name="aten::clone"))) for one in SLOWER]
    verdict = judge_pairs(paced(more, *[8.0] * 6), BASE, Rules({}))
    assert verdict.outcome is Outcome.DRIFTED
    assert {one.op for one in verdict.failing} == {"aten::clone"}


@pytest.mark.parametrize("first", [8.0, 5.0])
def test_facts_are_those_of_the_first_rounds_whether_they_count_or_not(first):
    head = paced(HEAD, first, *[5.0] * 5)
    other = replace(head[0], autograd_nodes=(head[0].autograd_nodes or 0) + 3)
    verdict = judge_pairs([other, *head[1:]], [replace(BASE[0], autograd_nodes=1), *BASE[1:]], Rules({}))
    assert Kind.AUTOGRAD in {one.kind for one in verdict.findings}


def test_pairs_in_turns_are_known_to_be_steadier():
    """As they are: they share each moment, not only the hour."""
    base, head = (rounds(step(), 8, seed=seed, own=0.004, common=0.004) for seed in (1, 2))
    slower = [dearer(one, 1.03) for one in head]
    assert [one.op for one in judge_pairs(slower, base, Rules({}), in_turns=True).failing] == [NAME]
    assert not judge_pairs(slower, base, Rules({})).failing
    assert not judge_pairs(head, base, Rules({}), in_turns=True).failing


def test_a_few_pairs_in_turns_raise_a_suspicion():
    """More of them are made then: five may agree by chance."""
    base, head = (rounds(step(), 5, seed=seed, own=0.004, common=0.004) for seed in (1, 2))
    verdict = judge_pairs([dearer(one, 1.04) for one in head], base, Rules({}), in_turns=True)
    assert not verdict.failing
    assert verdict.score > SUSPICIOUS / 2
    assert judge_pairs(head, base, Rules({}), in_turns=True).score < SUSPICIOUS / 2
    assert judge_pairs([dearer(one, 1.5) for one in head], base, Rules({}), in_turns=True).failing


def test_pairs_in_turns_that_are_noisier_than_known_fail_nothing():
    """Each figure is off by 3 %, so that the two of a pair differ by 4 %, where products are known to by 2 %."""
    for seed in range(100):
        base, head = (rounds(step(), 8, seed=2 * seed + side, own=0.03) for side in (0, 1))
        assert not judge_pairs(head, base, Rules({}), in_turns=True).failing


def test_pairs_in_turns_that_are_noisier_than_known_show_a_larger_change_where_enough_processes_agree():
    """Its figures are off by 3 %, and dearer by 20; the machine's pace varies from pair to pair, not within one."""

    def caught(count):
        found = 0
        for seed in range(20):
            sides = (rounds(step(), count, seed=2 * seed + side, own=0.03, common=0.0) for side in (0, 1))
            paces = np.exp(np.random.default_rng(seed).normal(scale=0.3, size=count))
            base, head = ([scaled(one, pace) for one, pace in zip(side, paces)] for side in sides)
            slower = [dearer(one, 1.2) for one in head]
            found += NAME in {one.op for one in judge_pairs(slower, base, Rules({}), in_turns=True).failing}
        return found

    assert caught(12) == 20
    assert caught(FEWEST_TO_AGREE - 1) == 0


def test_pairs_in_turns_are_compared_pair_by_pair_though_the_machine_s_pace_doubles_between_them():
    """The medians of the sides are of different pairs, and say that one is dearer."""
    paces = [1.0, 1.05, 1.1, 2.0, 2.1, 2.2, 1.0, 2.0]
    base = [scaled(one, pace) for one, pace in zip(rounds(step(), 8, seed=1, own=0.004, common=0.004), paces)]
    head = [scaled(one, pace) for one, pace in zip(rounds(step(), 8, seed=2, own=0.004, common=0.004), paces)]
    head[3] = scaled(head[3], 0.9)
    verdict = judge_pairs(head, base, Rules({}), in_turns=True)
    assert verdict.outcome is Outcome.PASSED
    assert verdict.factor == pytest.approx(1, abs=0.005)
    found = judge_pairs([dearer(one, 1.1) for one in head], base, Rules({}), in_turns=True).failing
    assert [(one.op, round(one.change, 2)) for one in found] == [(NAME, pytest.approx(0.1, abs=0.015))]


def scaled(cost, by):
    return with_ops(cost, (replace(op, self_host_us=op.self_host_us * by) for op in cost.ops))


def test_the_core_may_be_shared_in_one_pair_and_not_in_the_next():
    """Each round is compared with its fellow alone, so that all pairs count."""
    paces = [5.0, 8.0, 5.0, 8.0, 8.0, 5.0]
    base, head = (paced([scaled(one, pace) for one, pace in zip(side, paces)], *paces) for side in (BASE, HEAD))
    assert not judge_pairs(head, base, Rules({})).disturbed
    assert judge_pairs(head, base, Rules({})).outcome is Outcome.PASSED
    assert judge_pairs([dearer(one, 1.5) for one in head], base, Rules({})).failing


def repeated(seed, *, own=0.004):
    """What processes of one side find that run a test four times, four of them and the last of them 24 times."""
    counts, drawn = [4] * 4 + [24], iter(rounds(step(), 40, seed=seed, own=own, common=0.0))
    return [averaged([next(drawn) for _ in range(count)]) for count in counts]


def test_on_a_host_every_four_repetitions_of_a_process_are_a_pair():
    head, base = repeated(1), repeated(2)
    compared = compared_rounds([dearer(one, 1.04) for one in head], base)
    assert list(map(len, compared)) == [4 + 6, 4 + 6]
    assert judge_pairs(head, base, Rules({}), in_turns=True).outcome is Outcome.PASSED
    # Five pairs are too few to be certain of as little.
    slower = [dearer(one, 1.04) for one in head]
    assert [one.op for one in judge_pairs(slower, base, Rules({}), in_turns=True).failing] == [NAME]
    few = [[averaged(repetitions_of(one)[:4]) for one in side] for side in (slower, base)]
    assert not judge_pairs(*few, Rules({}), in_turns=True).failing


def test_a_side_that_ran_it_less_often_has_fewer_pairs():
    head, base = repeated(1), repeated(2)
    head[-1] = averaged(repetitions_of(head[-1])[:9])
    assert list(map(len, compared_rounds(head, base))) == [4 + 2, 4 + 2]


def on_card(seed, *, disturbed=1.0, count=5):
    """Rounds of four repetitions on a device, in the first of which an operator takes so many times as long."""
    drawn = rounds(on_device(step()), 4 * count, seed=seed, own=0.002, common=0.0)
    drawn[::4] = [dearer_on_card(one, disturbed) for one in drawn[::4]]
    return [averaged(drawn[first : first + 4]) for first in range(0, 4 * count, 4)]


def dearer_on_card(cost, by):
    ops = (replace(op, self_device_us=op.self_device_us * by) if op.name == NAME else op for op in cost.ops)
    return with_ops(cost, ops)


def test_on_a_device_one_repetition_of_each_round_moves_nothing():
    head, base = on_card(3, disturbed=1.3), on_card(4)
    assert judge_pairs(head, base, Rules({})).outcome is Outcome.PASSED
    # Their means do move.
    means = [[with_ops(one, (replace(op, samples=()) for op in one.ops)) for one in side] for side in (head, base)]
    assert [one.op for one in judge_pairs(*means, Rules({})).failing] == [NAME]


def test_on_a_device_every_repetition_makes_a_small_change_more_certain():
    """Of rounds that were repeated less often on one side, only what both have makes pairs."""
    base = on_card(4, count=8)
    dear = [dearer_on_card(one, 1.008) for side in on_card(3, count=8) for one in repetitions_of(side)]
    head = [averaged(dear[first : first + 4]) for first in range(0, 32, 4)]
    base[1] = averaged(repetitions_of(base[1])[:2])
    assert [one.op for one in judge_pairs(head, base, Rules({})).failing] == [NAME]
    assert not judge_pairs([repetitions_of(one)[0] for one in head], base, Rules({})).failing


def scattered(seed, *, processes=0.0, repetitions=0.0, by=1.0, count=6):
    """Rounds of four repetitions on a device, of which an operator varies from process to process, and from repetition
    to repetition, by standard deviations of so much."""
    drawn = np.random.default_rng(seed)
    found = []
    for first in range(0, 4 * count, 4):
        own = drawn.normal(scale=processes)
        four = rounds(on_device(step()), 4, seed=100 * seed + first, own=0.001, common=0.0)
        off = np.exp(own + drawn.normal(scale=repetitions, size=4) if repetitions else np.full(4, own))
        found.append(averaged([dearer_on_card(one, float(by * far)) for one, far in zip(four, off)]))
    return found


def certain(**head):
    """How often the operator fails, in 20 runs whose two sides lie at other places."""
    kind = {name: value for name, value in head.items() if name != "by"}
    runs = (judge_pairs(scattered(2 * seed, **head), scattered(2 * seed + 1, **kind), Rules({})) for seed in range(20))
    return sum(NAME in {one.op for one in verdict.failing} for verdict in runs)


def test_on_a_device_repetitions_that_share_no_places_are_as_uncertain_as_they_show():
    """They vary by 1 %, where operators of that kind vary by 1.4 % from place to place."""
    assert certain(repetitions=0.01, by=1.05) >= 18
    assert certain(repetitions=0.01) == 0


def test_on_a_device_repetitions_of_one_process_that_differ_alike_count_as_one():
    assert certain(processes=0.02) == 0
    assert certain(processes=0.01, by=1.05) < 18
    assert certain(processes=0.01, by=1.3) == 20


def paces(count, *, low, high):
    """How many of 100 clean runs fail, of so many pairs of processes, each of which keeps one of two paces."""
    drawn, wrong = np.random.default_rng(7), 0
    for seed in range(100):
        head, base = (
            [
                averaged([dearer_on_card(part, drawn_pace) for part in repetitions_of(one)])
                for one, drawn_pace in zip(scattered(2 * seed + side, count=count), drawn.choice([low, high], count))
            ]
            for side in (0, 1)
        )
        wrong += bool(judge_pairs(head, base, Rules({}, tests=12)).failing)
    return wrong


@pytest.mark.parametrize("count", [5, 6, 8])
def test_on_a_device_processes_that_keep_one_of_two_paces_are_not_taken_for_a_change(count):
    """As products of an H200 do beside another program."""
    assert paces(count, low=1.0, high=1.02) == 0


def test_on_a_device_a_change_that_some_processes_do_not_show_is_not_certain():
    """Five of eight pairs of processes have one side at a worse place, the others have not."""
    base = scattered(1, count=8)
    worse = [1.054, 1.054, 1.0, 1.054, 1.0, 1.054, 1.0, 1.054]
    head = [
        averaged([dearer_on_card(part, by) for part in repetitions_of(one)])
        for one, by in zip(scattered(2, count=8), worse)
    ]
    assert not judge_pairs(head, base, Rules({})).failing
    every = [averaged([dearer_on_card(part, 1.054) for part in repetitions_of(one)]) for one in scattered(2, count=8)]
    assert [one.op for one in judge_pairs(every, base, Rules({})).failing] == [NAME]
