from __future__ import annotations

from records import finding

from pytest_opcost.judge import Kind, Outcome, Verdict
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
        "opcost: a.py::b (encoder) drifted from its baseline in each of 5 measurements:\n"
        "  - aten::mm (addmm): 3 us a step, was 2 us\n"
        "What else moved:\n"
        "  - aten::add (elementwise): cheaper\n"
        "Baseline: baselines/m/a.yaml (recorded 2026-11-27)\n"
        f"If this is meant, accept it: {ACCEPT}"
    )


def test_one_measurement_and_nothing_else():
    told = text(finding(Kind.NEW)).splitlines()
    assert told[0] == "opcost: a.py::b (encoder) drifted from its baseline:"
    assert not any("What else" in line for line in told)


def test_two_measurements():
    assert text(finding(), measurements=2).startswith(
        "opcost: a.py::b (encoder) drifted from its baseline in each of 2 m"
    )


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
