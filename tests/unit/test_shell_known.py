from __future__ import annotations

import random
from dataclasses import replace

import pytest
from records import STEP, baseline, on_device, op, profile, result, sampled, step
from reports import STARTED

from pytest_opcost.baselines import Session
from pytest_opcost.judge import Rules
from pytest_opcost.judge.timing.groups import OTHER
from pytest_opcost.merging import merged
from pytest_opcost.shell.judging import judged
from pytest_opcost.shell.known import from_baseline, from_result
from pytest_opcost.shell.pairs import paired


def test_the_rounds_of_a_baseline_are_those_that_it_was_recorded_in():
    rounds = from_baseline(baseline(sampled(step(), 1.0, 1.1, 0.9))).rounds
    assert [round(one.cost_us(one.by_name()["aten::relu"]), 9) for one in rounds] == [100.0, 110.0, 90.0]


def test_those_on_a_device_are_of_its_own_clock():
    rounds = from_baseline(baseline(sampled(on_device(step()), 1.0, 2.0))).rounds
    assert [one.by_name()["aten::relu"].self_device_us for one in rounds] == [100.0, 200.0]
    assert {one.by_name()["aten::relu"].self_host_us for one in rounds} == {1.0}


def test_an_operator_without_samples_costs_the_same_in_all_rounds():
    cost = sampled(step(), 1.0, 1.1)
    cost = replace(cost, ops=(replace(cost.ops[0], samples=()), *cost.ops[1:]))
    rounds = from_baseline(baseline(cost)).rounds
    assert [one.ops[0].self_host_us for one in rounds] == [400.0, 400.0]


def test_a_result_that_was_measured_once_is_one_round(tmp_path):
    known = from_result(result(), tmp_path, STARTED)
    assert (known.rounds, known.sessions) == ([step()], (1,))
    assert known.reference.profile.by_name().keys() == STEP.keys()
    assert known.told == "measured 2026-11-28, 1 round"


def test_the_rounds_of_a_confirmed_result_are_kept(tmp_path):
    known = from_result(result(sampled(step(), 1.0, 1.1, 1.2, 1.3)), tmp_path, STARTED)
    assert (len(known.rounds), known.sessions, known.told) == (4, (4,), "measured 2026-11-28, 4 rounds")


def test_checks_of_one_test_are_told_apart(tmp_path):
    before = [from_result(result(check=name), tmp_path, STARTED) for name in ("a", "b")]
    after = [from_result(result(check=name), tmp_path, STARTED) for name in ("b", "c")]
    found = paired(before, after)
    assert [(one.subject.check, two.subject.check) for one, two in found.pairs] == [("b", "b")]
    assert [one.subject.check for one in (*found.only_before, *found.only_after)] == ["a", "c"]


def test_a_file_is_the_same_as_itself():
    """Also what is judged together, of which not every operator has samples, and where sessions differ."""
    draw = random.Random(3)
    names = [f"aten::x{number}" for number in range(12)]
    rounds = [
        profile(*(op(name, us * draw.gauss(1, 0.03)) for name, us in (STEP | dict.fromkeys(names, 4.0)).items()))
        for _ in range(10)
    ]
    one = merged(rounds)
    kept = tuple(row if row.name != names[0] else replace(row, samples=()) for row in one.ops)
    assert 0 < sum(bool(row.samples) for row in kept if row.name in names) < len(names)
    sessions = tuple(Session("2026-11-30", count) for count in (3, 5, 2))
    known = from_baseline(replace(baseline(replace(one, ops=kept)), sessions=sessions))

    result = judged(known, known, Rules({"conv/addmm": None}))

    assert OTHER in [row.op for row in result.verdict.compared]
    assert [row.own for row in result.verdict.compared] == pytest.approx([0.0] * len(result.verdict.compared), abs=1e-5)
