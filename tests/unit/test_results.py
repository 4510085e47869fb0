from __future__ import annotations

import json
from dataclasses import replace

import pytest
from records import CPU, finding, op, profile, result, step

from pytest_opcost.baselines import Baseline
from pytest_opcost.check_options import CheckOptions
from pytest_opcost.costs import ColdStep, CostProfile, Environment, OpCost, RecordedRatio
from pytest_opcost.facts import OpFacts, Place
from pytest_opcost.judge import Cause, Finding, Kind, Outcome, Rules, Verdict
from pytest_opcost.options import Options
from pytest_opcost.results import CheckResult, Subject


def full():
    facts = OpFacts(
        inputs=(("f32[2]", 2), ("f32[3]", 1)),
        flops=200,
        kernels=(("gemm#1a2b", 3),),
        syncs=1,
        alloc_bytes=64,
        places=(Place("forward", "fc1", "model.py:3"), Place("backward")),
        varying=("syncs",),
    )
    cost = profile(
        op("aten::mm", 3.5, device_us=1.5, calls=2, forward=0.25, varying=True, samples=(1.5, 1.6), facts=facts),
        op("my::thing", 1.0),
        load=0.25,
        pace_us=4.6,
    )
    return result(
        replace(
            cost,
            cold=ColdStep(9.0, 8.0, 7.0, (("aten::mm", 6.0, 5.0),)),
            negative_clamped=3,
            kernel_names=(("gemm#1a2b", "void gemm<1>()"),),
            autograd_nodes=12,
        ),
        Outcome.DRIFTED,
        finding(Kind.DEARER),
        finding(Kind.UNKNOWN, baseline=None, current=None),
        check="encoder",
        origin="recorded 2026-11-27",
        reported_only=True,
        data="the shipped sample",
        text="schema: 1\n",
        changes=("new", "größer"),
        compared=False,
        top=3,
        causes=(Cause("copy_added", "a copy", "aten::clone", "conv1", "model.py:3", ("aten::clone", "aten::copy_")),),
    )


def measured_twice():
    one = result(outcome=Outcome.INCONCLUSIVE)
    return replace(one, verdict=replace(one.verdict, factor=1.25, measurements=5))


RECORDS = (
    *(Environment, OpCost, RecordedRatio, ColdStep, CostProfile, Baseline, OpFacts, Place),
    *(Cause, Finding, Verdict, Rules, Subject, CheckResult, Options, CheckOptions),
)


@pytest.mark.parametrize("record", RECORDS)
def test_records_are_frozen(record):
    assert record.__dataclass_params__.frozen
    assert "__slots__" in vars(record)


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(full(), id="everything"),
        pytest.param(result(batch_size=None), id="as little as possible"),
        pytest.param(measured_twice(), id="several measurements"),
        pytest.param(result(replace(step(), environment=replace(CPU, settings=(), details=()))), id="no settings"),
    ],
)
def test_a_result_survives_the_way_to_another_process(one):
    assert CheckResult.from_data(json.loads(json.dumps(one.to_data()))) == one
    assert CheckResult.from_data(one.to_data()) == one


def test_the_facts_stand_in_the_plain_data():
    data = full().to_data()
    assert data["flops"] == 200
    assert data["kernel_names"] == {"gemm#1a2b": "void gemm<1>()"}
    (facts,) = (row["facts"] for row in data["ops"] if row["name"] == "aten::mm")
    assert facts["places"][0] == {"phase": "forward", "module": "fc1", "line": "model.py:3"}
    assert [row["facts"] for row in data["ops"] if row["name"] == "my::thing"] == [None]


def test_plain_data_is_the_caller_s_to_change():
    one = result()
    data = one.to_data()
    data["ratios"].clear()
    data["ops"].clear()
    assert one == result()


def test_a_title_holds_the_check_s_name():
    assert Subject("a.py::b", None, "a.py::b", "cpu", 1).title == "a.py::b"
    assert Subject("a.py::b", "encoder", "a.py::b", "cpu", 1).title == "a.py::b (encoder)"
