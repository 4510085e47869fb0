from __future__ import annotations

from dataclasses import replace

import pytest
from records import finding

from pytest_opcost.judge import Cause, Kind, Outcome, Verdict
from pytest_opcost.judge.verdict import CORE
from pytest_opcost.judge.words import failure_text

ACCEPT = 'pytest "a.py::b" --opcost-update-baselines'


def text(*findings, measurements=1):
    verdict = Verdict(Outcome.DRIFTED, findings, measurements=measurements)
    return failure_text("a.py::b (encoder)", verdict, "baselines/m/a.yaml", "recorded 2026-11-27", ACCEPT)


def test_the_whole_message():
    told = text(
        finding(Kind.DEARER, message="aten::mm (addmm): 3 us a step, was 2 us"),
        finding(Kind.CHEAPER, message="aten::add (elementwise): cheaper"),
        measurements=5,
    )
    assert told == (
        "aten::mm +50 % (1.5 us a step, was 1 us): a.py::b (encoder) drifted from its baseline, measured 5 times:\n"
        "  - aten::mm (addmm): 3 us a step, was 2 us\n"
        "What else moved:\n"
        "  - aten::add (elementwise): cheaper\n"
        "Baseline: baselines/m/a.yaml (recorded 2026-11-27)\n"
        f"If this is meant, accept it: {ACCEPT}"
    )


def test_what_may_be_cheaper_or_not_is_no_part_of_a_failure():
    perhaps = finding(Kind.NOISE, "aten::add", change=-0.2, message="aten::add: may be noise")
    dearer = replace(perhaps, op="aten::mul", change=0.2, message="aten::mul: may be noise")
    ratio = replace(perhaps, op="conv/addmm", family="ratio", message="conv/addmm: may be noise")
    surely = finding(Kind.CHEAPER, "aten::gelu")
    lines = text(finding(), surely, dearer, ratio, perhaps).splitlines()
    assert lines[1:6] == [
        "  - aten::mm moved",
        "What else moved:",
        "  - aten::gelu moved",
        "  - aten::mul: may be noise",
        "  - conv/addmm: may be noise",
    ]
    assert "What else" not in text(finding(), perhaps)
    assert Verdict(Outcome.INCONCLUSIVE, (perhaps,)).told == (perhaps,)


def test_what_is_said_of_the_core_did_not_move():
    core = finding(Kind.NOISE, CORE, message="a neighbour shared the core")
    lines = text(finding(), core).splitlines()
    assert lines[1:3] == ["  - aten::mm moved", "Besides: a neighbour shared the core"]
    assert not any("What else" in line for line in lines)


def test_one_measurement_and_nothing_else():
    told = text(finding(Kind.NEW)).splitlines()
    assert told[0] == "aten::mm 2 calls a step (was 1): a.py::b (encoder) drifted from its baseline:"
    assert not any("What else" in line for line in told)


def test_two_measurements():
    told = text(finding(), measurements=2)
    assert "a.py::b (encoder) drifted from its baseline, measured 2 times:\n" in told


def test_eight_bullets_and_the_names_of_the_rest():
    names = [f"aten::op{index}" for index in range(10)]
    told = text(*(finding(Kind.DEARER, name) for name in [*names, "aten::op9"])).splitlines()
    assert told[1:10] == [
        *(f"  - {name} moved" for name in names[:8]),
        "  - and 3 more: aten::op8, aten::op9",
    ]
    assert "and" not in "".join(text(*(finding(Kind.DEARER, name) for name in names[:8])).splitlines()[8:9])


def test_the_others_are_counted_by_themselves():
    told = text(finding(Kind.DEARER), *(finding(Kind.CHEAPER, f"op{index}") for index in range(9)))
    assert told.count("  - ") == 1 + 8 + 1
    assert "  - and 1 more: op8" in told


def test_what_is_cheaper_and_fails_is_banked():
    cheaper = finding(Kind.CHEAPER, "aten::mm", fails=True)
    assert text(cheaper).splitlines()[-2:] == ["What is cheaper fails by --opcost-fail-on=drift", f"Bank it: {ACCEPT}"]
    both = text(cheaper, finding(Kind.DEARER, "aten::add")).splitlines()
    assert both[-2:] == ["What is cheaper fails by --opcost-fail-on=drift", f"If this is meant, accept it: {ACCEPT}"]
    told = failure_text("a.py::b", Verdict(Outcome.DRIFTED, (cheaper,)), "", "HEAD, beside it", ACCEPT).splitlines()
    assert told[-2:] == ["Compared with HEAD, beside it", "What is cheaper fails by --opcost-fail-on=drift"]


def because(kind="copy_added", message="a copy", op="aten::op0", *explains):
    return Cause(kind, message, op, explains=(op, *explains))


def explained(*findings, causes):
    verdict = Verdict(Outcome.DRIFTED, findings)
    return failure_text("a.py::b", verdict, "a.yaml", "recorded", ACCEPT, causes).splitlines()


def test_causes_come_first_and_three_of_them():
    causes = [because(message=f"cause {index}") for index in range(4)]
    lines = explained(finding(Kind.NEW, "aten::op0"), causes=causes)
    assert lines[1:5] == ["Cause: cause 0", "Cause: cause 1", "Cause: cause 2", "  - aten::op0 moved"]


@pytest.mark.parametrize("first", [True, False])
def test_what_takes_more_time_though_nothing_differs_is_a_cause_where_it_is_the_first_of_several(first):
    timed, copies = because("time_only", "twice the time"), because(message="a copy", op="aten::op1")
    causes = [timed, copies] if first else [copies, timed]
    lines = explained(finding(Kind.NEW, "aten::op1"), finding(Kind.DEARER, "aten::op0"), causes=causes)
    found = [line for line in lines if "copy" in line or "the time" in line]
    assert found == (["Cause: twice the time", "Cause: a copy"] if first else ["Cause: a copy", "  Twice the time"])


def test_a_cause_that_only_repeats_a_finding_is_not_told():
    assert explained(finding(Kind.NEW, message="a copy more"), causes=[because()])[1] == "  - a copy more"


def test_what_follows_from_one_cause_is_folded_and_where_it_starts_is_not():
    findings = [finding(Kind.NEW, f"aten::op{index}") for index in range(6)]
    cause = because("copy_added", "a copy", "aten::op5", *(f"aten::op{index}" for index in range(5)))
    lines = explained(*findings, finding(Kind.SETTING, "tf32"), causes=[cause])
    assert lines[1:7] == [
        "Cause: a copy",
        *(f"  - aten::op{index} moved" for index in (0, 1, 5)),
        "  - tf32 moved",
        "  - and so with 3 more: aten::op2, aten::op3, aten::op4",
    ]


def test_timings_are_never_folded():
    names = [f"aten::op{index}" for index in range(6)]
    lines = explained(*(finding(Kind.DEARER, name) for name in names), causes=[because("x", "why", *names)])
    assert lines[2:8] == [f"  - {name} moved" for name in names]


def test_that_nothing_else_differs_is_told_after_the_figures():
    lines = explained(finding(Kind.DEARER), causes=[because("time_only", "no exact difference: 1.8 % more")])
    assert lines[1:3] == ["  - aten::mm moved", "  No exact difference: 1.8 % more"]
