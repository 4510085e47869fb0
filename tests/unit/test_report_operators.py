"""The ranking of operators by either clock."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import CUDA, op, profile

from pytest_opcost.facts import OpFacts
from pytest_opcost.report.operators import clocks, operator_rows, ranked

STEP = profile(
    op("aten::conv2d", 10.0, device_us=90.0, calls=2),
    op("aten::add", 30.0, device_us=10.0),
    op("aten::empty", 60.0, calls=5),
    op("cudaDeviceSynchronize", 500.0, family="wait"),
    environment=CUDA,
)


def test_each_clock_has_an_order_and_shares_of_its_own():
    host, device = ranked(STEP, "host", 10), ranked(STEP, "device", 10)
    assert [(row.name, row.us) for row in host] == [("aten::empty", 60.0), ("aten::add", 30.0), ("aten::conv2d", 10.0)]
    assert [(row.name, row.share) for row in device] == [("aten::conv2d", 0.9), ("aten::add", 0.1), ("other", 0.0)]
    assert (device[-1].calls, device[-1].host_us) == (5, 60.0)  # what only the host did is among the others


def test_the_others_are_one_row_and_shares_add_up():
    first, others = ranked(STEP, "host", 1)
    assert (others.name, others.calls, others.us, others.device_us, others.op) == ("other", 3, 40.0, 100.0, None)
    assert (first.host_us + others.host_us, sum(row.us for row in (first, others))) == (100.0, 100.0)


@pytest.mark.parametrize(("step", "expected"), [(STEP, ("device", "host")), (profile(op("aten::add", 1.0)), ("host",))])
def test_the_clock_that_is_judged_comes_first(step, expected):
    assert clocks(step) == expected


def test_a_step_that_costs_nothing_has_no_rows():
    assert ranked(profile(op("aten::add", 0.0)), "host", 3) == ()


def test_what_was_computed_belongs_to_the_clock_that_computes():
    computing = replace(STEP.ops[0], facts=OpFacts(flops=180_000_000))
    headers, (row, *_) = operator_rows(replace(STEP, ops=(computing,)), "device", 3)
    assert dict(zip(headers, row))["GFLOP/s"] == "2,000.0"
    headers, (row, *_) = operator_rows(replace(STEP, ops=(computing,)), "host", 3)
    assert headers == ["operator", "family", "calls", "host us", "share"]
    assert len(row) == len(headers)


def test_total_times_stand_beside_self_times_where_they_are_known_and_wanted():
    step = profile(
        replace(op("aten::linear", 10.0, device_us=0.0), inclusive_host_us=50.0, inclusive_device_us=90.0),
        replace(op("aten::addmm", 30.0, device_us=90.0), inclusive_host_us=40.0, inclusive_device_us=90.0),
        op("aten::t", 1.0, device_us=1.0),
        environment=CUDA,
    )
    headers, rows = operator_rows(step, "device", 1, inclusive=True)
    assert headers[2:8] == ["calls", "self host us", "total host us", "self device us", "total device us", "share"]
    assert [row[3:7] for row in rows] == [["30.0", "40.0", "90.0", "90.0"], ["11.0", "", "1.0", ""]]
    headers, rows = operator_rows(step, "host", 3, inclusive=True)
    assert headers[3:5] == ["self host us", "total host us"]
    assert ["aten::linear", "10.0", "50.0"] in [[row[0], *row[3:5]] for row in rows]
    for wanted, known in ((False, step), (True, STEP)):
        assert "host us" in operator_rows(known, "host", 3, inclusive=wanted)[0]
