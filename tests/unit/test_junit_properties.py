from __future__ import annotations

from dataclasses import replace

from records import result, step

from pytest_opcost.judge import Outcome
from pytest_opcost.report.junit import properties


def test_the_few_figures():
    found = result(replace(step(), wall_us=1234.56789), ratios={"conv/addmm": 2.0, "conv/addmm forward": 1.25})
    found = replace(found, verdict=replace(found.verdict, seen=(("aten::mm", 0.25), ("conv/addmm", 0.0612345678))))
    assert dict(properties(found)) == {
        "opcost.outcome": "passed",
        "opcost.machine": "cpu-test-cpu-9000-1-thread-torch2.11",
        "opcost.step_us": 1234.57,
        "opcost.conv/addmm": 2.0,
        "opcost.conv/addmm.forward": 1.25,
        "opcost.seen_from": 0.0612346,
    }


def test_the_checks_of_one_test_are_told_apart():
    names = [name for name, _ in properties(result(None, Outcome.DRIFTED, check="encoder"))]
    assert names == ["opcost.encoder.outcome", "opcost.encoder.machine", "opcost.encoder.step_us",
                     "opcost.encoder.conv/addmm"]  # fmt: skip


def test_no_name_breaks_an_xml_file():
    assert next(iter(properties(result(check="a\x00\ud800b"))))[0] == "opcost.a??b.outcome"
