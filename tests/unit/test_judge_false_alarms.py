"""Whole verdicts of simulated sessions: pure numbers, from seeded generators, of the noise that the judge assumes."""

from __future__ import annotations

import math

import pytest
from records import STEP, op, profile, step

pytest.importorskip("scipy")

import numpy as np  # only where there is one

from pytest_opcost.judge import Again, Outcome, Reference, Rules, confirmed, judge
from pytest_opcost.judge.timing import noise
from pytest_opcost.judge.timing.critical import FALSE_ALARMS
from pytest_opcost.judge.timing.moved import prior_of
from pytest_opcost.merging import merged

RULES = Rules({"conv/addmm": None})
COSTS = np.log(list(STEP.values()))
PRIORS = [prior_of(step(), name) for name in STEP]
STILL = dict.fromkeys(STEP, 1.0)


def factor(spreads):
    """What makes independent normal numbers operators' noise."""
    deviations = np.array([spread.of(cost) for spread, cost in zip(spreads, np.exp(COSTS))])
    together = np.full((6, 6), noise.CORRELATION) + (1 - noise.CORRELATION) * np.eye(6)
    return np.linalg.cholesky(together * np.outer(deviations, deviations))


ROUNDS, SESSIONS = factor([one.rounds for one in PRIORS]), factor([one.sessions for one in PRIORS])


def verdicts(count, seed, moved=STILL, sessions=1, most=12):
    """The verdicts of so many checks, each against a baseline of its own; `moved` are true changes of operators."""
    draw, shift = np.random.default_rng(seed), np.log(list(moved.values()))

    def measured(expected):
        costs = np.exp(expected + ROUNDS @ draw.normal(size=6))
        return profile(*(op(name, float(us)) for name, us in zip(STEP, costs)))

    def session():
        return COSTS + SESSIONS @ draw.normal(size=6)

    for _ in range(count):
        recorded = [measured(expected) for expected in [session() for _ in range(sessions)] for _ in range(5)]
        reference, now = Reference(merged(recorded), (5,) * sessions), session() + shift

        def again(now=now):
            return measured(now)

        def judged(rounds, reference=reference):
            return judge(reference, rounds, RULES)

        yield confirmed(again(), judged, Again(again, again, most))[1]


@pytest.mark.parametrize(("sessions", "seed"), [(1, 1), (3, 2)])
def test_clean_sessions_hardly_ever_fail(sessions, seed):
    count = 2000 if sessions == 1 else 500
    found = list(verdicts(count, seed, sessions=sessions))
    failed = sum(bool(verdict.failing) for verdict in found)
    # A binomial number of failures at the rate that is promised: more than these in one of a thousand seeds.
    likely, reached = 0, (1 - FALSE_ALARMS) ** count
    while reached < 0.999:
        likely += 1
        reached += math.comb(count, likely) * FALSE_ALARMS**likely * (1 - FALSE_ALARMS) ** (count - likely)
    assert failed <= likely
    # A few of those that the first measurement made suspicious are neither confirmed nor dropped.
    assert sum(verdict.outcome is Outcome.INCONCLUSIVE for verdict in found) <= count / 40
    # Most are let through by the first measurement.
    assert sum(verdict.measurements == 1 for verdict in found) > 0.9 * count


@pytest.mark.parametrize(("operator", "factor"), [("aten::mkldnn_convolution", 1.2), ("aten::addmm", 1.6)])
def test_what_is_clear_of_the_noise_is_caught(operator, factor):
    found = list(verdicts(100, 3, {**STILL, operator: factor}))
    caught = [verdict for verdict in found if verdict.outcome is Outcome.DRIFTED]
    assert len(caught) >= 78
    assert sum(operator in {one.op for one in verdict.failing} for verdict in caught) >= 75
    others = {one.op for verdict in caught for one in verdict.failing} - {operator, "conv/addmm"}
    assert not others


def test_a_change_below_the_least_effect_does_not_fail():
    found = verdicts(200, 4, {**STILL, "aten::bernoulli_": 1.03})
    assert not any(verdict.failing for verdict in found)


def test_without_fresh_processes_the_first_impression_is_right_nearly_always():
    assert sum(bool(verdict.failing) for verdict in verdicts(300, 5, most=0)) <= 3
