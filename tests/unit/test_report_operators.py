"""The ranking of operators by either clock."""

from __future__ import annotations

import pytest
from records import CUDA, op, profile

from pytest_opcost.report.operators import clocks, ranked

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
    assert [(row.name, row.share) for row in device] == [("aten::conv2d", 0.9), ("aten::add", 0.1)]


def test_the_others_are_one_row_and_shares_add_up():
    first, others = ranked(STEP, "host", 1)
    assert (others.name, others.calls, others.us, others.device_us, others.op) == ("other", 3, 40.0, 100.0, None)
    assert (first.host_us + others.host_us, sum(row.us for row in (first, others))) == (100.0, 100.0)


@pytest.mark.parametrize(("step", "expected"), [(STEP, ("device", "host")), (profile(op("aten::add", 1.0)), ("host",))])
def test_the_clock_that_is_judged_comes_first(step, expected):
    assert clocks(step) == expected


def test_a_step_that_costs_nothing_has_no_rows():
    assert ranked(profile(op("aten::add", 0.0)), "host", 3) == ()
