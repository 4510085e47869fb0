from __future__ import annotations

from dataclasses import replace

import pytest
from exports import drifted
from records import finding, result

from pytest_opcost.judge import Kind, Outcome
from pytest_opcost.report.github.annotations import Place, annotation, problem_annotation

PLACE = Place("tests/test_a.py", 7)


def test_a_drift_is_an_error_at_its_line_with_cause_and_command():
    line = annotation(drifted(), PLACE, failed=True)
    assert line.startswith(
        "::error file=tests/test_a.py,line=7,title=opcost%3A tests/test_a.py%3A%3Atest_step[cpu-16]::"
    )
    first, *rest = line.split("%0A")
    assert first.endswith("::aten::addmm +30 %25 (1.5 us a step, was 1 us): tests/test_a.py::test_step[cpu-16] drifted "
                          "from its baseline:")  # fmt: skip
    assert rest[0] == "Cause: another kernel: gemm"
    assert rest[-1].endswith('accept it: pytest "tests/test_a.py::test_step[cpu-16]" --opcost-update-baselines')


@pytest.mark.parametrize(
    ("reported_only", "failed", "level"),
    [(False, True, "error"), (True, False, "warning"), (True, True, "warning"), (False, False, "warning")],
    ids=["fails", "reported", "reported, and the test fails for something else", "expected or caught"],
)
def test_what_only_is_reported_or_did_not_fail_the_test_is_a_warning(reported_only, failed, level):
    found = replace(drifted(), reported_only=reported_only)
    assert annotation(found, PLACE, failed=failed).startswith(f"::{level} file=")


def test_nothing_is_told_of_what_passes():
    assert annotation(result(), PLACE, failed=False) is None
    cheaper = result(None, Outcome.PASSED, finding(Kind.CHEAPER))
    assert annotation(cheaper, PLACE, failed=True) is None


def test_a_missing_baseline_is_an_error_even_where_drifts_are_only_reported():
    missing = finding(Kind.UNKNOWN, "baseline", message="no baseline", fails=True)
    found = result(None, Outcome.NOT_JUDGED, missing, compared=False, reported_only=True)
    line = annotation(found, None, failed=True)
    assert line == "::error title=opcost%3A tests/test_a.py%3A%3Atest_step[cpu-16]::no baseline"


def test_a_problem_of_the_run_has_no_place():
    assert problem_annotation("nothing\nwas judged") == "::error title=opcost::nothing%0Awas judged"
