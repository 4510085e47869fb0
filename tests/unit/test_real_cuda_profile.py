"""What torch 2.11 printed and saved of one profile, five training steps of LeNet on an H200: both say the same."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("numpy")

from pytest_opcost.imports.files import import_file
from pytest_opcost.imports.known import Known as Told
from pytest_opcost.judge import Outcome, Rules
from pytest_opcost.results import Subject
from pytest_opcost.shell.judging import judged
from pytest_opcost.shell.known import Known
from pytest_opcost.shell.tables import likened

TABLES = Path(__file__).parent / "tables"
STEPS = 5


@pytest.fixture(scope="module")
def printed():
    (result,) = import_file(TABLES / "torch-2.11-h200.txt", Told(steps=STEPS))
    return result.profile


@pytest.fixture(scope="module")
def saved():
    (result,) = import_file(TABLES / "torch-2.11-h200-trace.json.gz", Told(steps=STEPS))
    return result.profile


def test_costs_are_the_same_operator_by_operator(printed, saved):
    table, trace = printed.by_name(), saved.by_name()
    both = [name for name in table if name in trace]
    assert len(both) > 45
    for name in both:
        assert table[name].calls == trace[name].calls
        # Printed to a thousandth of its unit.
        assert trace[name].self_device_us == pytest.approx(table[name].self_device_us, rel=0.002, abs=0.002)
        if name != "aten::fill_":
            assert trace[name].self_host_us == pytest.approx(table[name].self_host_us, rel=0.002, abs=0.002), name


@pytest.mark.parametrize("turned", [False, True])
def test_compared_they_are_the_same(printed, saved, turned):
    card = replace(printed.environment, device_name="NVIDIA H200")  # as --device-name says it
    sides = [
        Known(
            Subject("a", None, "a", "cuda", None),
            profile,
            (1,),
            {"conv/addmm": profile.ratio("conv/addmm")},
            TABLES,
            "",
        )
        for profile in (replace(printed, environment=card), saved)
    ]

    before, after = likened(*(sides[::-1] if turned else sides))
    found = judged(before, after, Rules({}))

    assert (found.verdict.outcome, found.verdict.findings) == (Outcome.PASSED, ())
    assert len(found.verdict.compared) > 10
    assert after.profile.total_us == pytest.approx(before.profile.total_us, rel=0.001)


def test_inclusive_times_are_the_table_s_totals(saved):
    units = {"us": 1.0, "ms": 1000.0}

    def microseconds(cell):
        value, unit = re.fullmatch(r"([0-9.]+)(us|ms)", cell).groups()
        return float(value) * units[unit]

    lines = (TABLES / "torch-2.11-h200.txt").read_text(encoding="utf-8").splitlines()
    cells = [re.split(r" {2,}", line.strip()) for line in lines if line.strip().startswith(("aten::", "cuda"))]
    trace = saved.by_name()
    compared = [row for row in cells if row[0] in trace]
    assert len(compared) > 40
    for name, _, _, _, host, _, _, _, device, *_ in compared:
        assert trace[name].inclusive_host_us * STEPS == pytest.approx(microseconds(host), rel=0.002, abs=0.01), name
        # The kernel that was launched as the profiler asked for a buffer counts twice there: once as the buffer's.
        twice = (
            4.608
            if name in ("aten::conv2d", "aten::convolution", "aten::_convolution", "aten::cudnn_convolution")
            else 0
        )
        expected = microseconds(device) - twice
        assert trace[name].inclusive_device_us * STEPS == pytest.approx(expected, rel=0.002, abs=0.01), name


def test_the_profiler_s_own_time_is_no_operator_s(printed, saved):
    """It asked for a buffer twice, 1.7 ms each: torch leaves the one on the backward thread in fill_."""
    assert printed.by_name()["aten::fill_"].self_host_us * STEPS > 1_700
    assert saved.by_name()["aten::fill_"].self_host_us * STEPS < 100
    assert not any("Activity Buffer" in op.name for op in (*saved.ops, *printed.ops))


def test_the_ratio_and_the_device_are_known(printed, saved):
    assert saved.ratio("conv/addmm") == pytest.approx(printed.ratio("conv/addmm"), rel=0.001)
    assert saved.total_device_us == pytest.approx(printed.total_device_us, rel=0.001)
    assert (saved.environment.device, saved.environment.device_name) == ("cuda", "NVIDIA H200")
