from __future__ import annotations

import pytest
from records import finding

from pytest_opcost.judge import Cause, Finding, Kind
from pytest_opcost.judge.words import headline

ADDMM = finding(Kind.DEARER, "aten::addmm", 1.0, baseline=1000.0, current=2000.0)
RATIO = finding(Kind.RATIO, "conv/addmm", -0.5, baseline=4.0, current=2.0)
CLONE = finding(Kind.CALLS, "aten::clone", 0.0, baseline=2.0, current=3.0)


@pytest.mark.parametrize(
    ("findings", "told"),
    [
        ([ADDMM], "aten::addmm +100 % (2,000 us a step, was 1,000 us)"),
        ([RATIO], "conv/addmm -50 % (2, was 4)"),
        ([RATIO, ADDMM], "aten::addmm +100 % (2,000 us a step, was 1,000 us), and 1 more"),
        ([CLONE], "aten::clone 3 calls a step (was 2)"),
        ([ADDMM, RATIO, CLONE], "aten::clone 3 calls a step (was 2), and 2 more"),
        (
            [finding(Kind.CHEAPER, "aten::mm", -0.25, baseline=20.0, current=15.0)],
            "aten::mm -25 % (15 us a step, was 20 us)",
        ),
        (
            [finding(Kind.DEARER, "addmm", 0.5, baseline=20.0, current=30.0)],
            "all other operators +50 % (30 us a step, was 20 us)",
        ),
    ],
)
def test_operator_and_figure_come_first(findings, told):
    assert headline(findings) == told


def test_of_exact_changes_the_one_that_the_first_cause_starts_at():
    others = [finding(Kind.NEW, f"aten::op{index}", baseline=0.0, current=1.0) for index in range(2)]
    cause = Cause("copy_added", "a copy", "aten::clone")
    assert headline([*others, CLONE], [cause]).startswith("aten::clone 3 calls a step")
    assert headline([*others, CLONE]).startswith("aten::op0 1 call a step (was 0), and 2 more")


def test_a_long_fact_is_cut():
    long = finding(Kind.INPUTS, "aten::mm", 0.0, message="aten::mm (addmm) takes " + "f32[10,16] " * 40)
    told = headline([long])
    assert told.startswith("aten::mm takes f32[10,16]")
    assert told.endswith("f32[10,16] ...")
    assert len(told) <= 100


def test_what_is_too_long_for_both_says_what_is_there_now():
    message = "aten::addmm (addmm) takes f32[128] f32[512,512] f32[512,128] (was f32[128] f32[512,256] f32[256,128])"
    both = Finding(Kind.INPUTS, "aten::addmm", "addmm", f"{message}; 2 MFLOP a step (was 1 MFLOP)", fails=True)
    assert headline([both]) == "aten::addmm takes f32[128] f32[512,512] f32[512,128]"
