"""The marker's arguments are checked before its test is set up: a typo is one clear error, and that test's alone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .project import Project

_TEST = """
import pytest


@pytest.mark.opcost({arguments})
def test_model(opcost, step):
    opcost.check(step)
"""


@pytest.mark.parametrize(
    ("arguments", "found", "expected"),
    [
        (
            "tolerence=0.1",
            "unknown argument tolerence.",
            "top, ratios, tolerance, floor, warmup, steps, on_drift, fail_on",
        ),
        ("a=1, b=2", "unknown arguments a, b.", "top, ratios, tolerance, floor, warmup, steps, on_drift, fail_on"),
        ("0.1", "takes keyword arguments only, found 0.1.", ""),
        ("tolerance='much'", "tolerance='much' is not valid.", "a number, 0 or more"),
        ("tolerance=-0.1", "tolerance=-0.1 is not valid.", "a number, 0 or more"),
        ("tolerance=float('nan')", "tolerance=nan is not valid.", "a number, 0 or more"),
        ("floor=-1", "floor=-1 is not valid.", "microseconds, 0 or more"),
        ("fail_on='cheaper'", "fail_on='cheaper' is not valid.", "dearer or drift"),
        ("steps=0", "steps=0 is not valid.", "a whole number, 1 or more"),
        ("steps=True", "steps=True is not valid.", "a whole number, 1 or more"),
        ("warmup=1.5", "warmup=1.5 is not valid.", "a whole number, 0 or more"),
        ("top=0", "top=0 is not valid.", "a whole number, 1 or more"),
        ("on_drift='ignore'", "on_drift='ignore' is not valid.", "fail or report"),
        ("ratios=['conv/addmm']", "ratios=['conv/addmm'] is not valid.", "a dict such as {'conv/addmm': 0.10}"),
        ("ratios={'conv': 0.1}", "ratios: 'conv' is no ratio.", "such as conv/addmm or copy/total"),
        (
            "ratios={'con/addmm': 0.1}",
            "'con/addmm' is no ratio: 'con' is neither a family nor an operator's full name.",
            "The closest is conv.",
        ),
        ("ratios={'conv/addmm': 'x'}", "the band of conv/addmm='x' is not valid.", "a number, 0 or more"),
    ],
    ids=lambda value: value.split(" ")[0] if "=" in str(value) or value == "0.1" else "",
)
def test_an_argument_that_makes_no_sense_is_one_clear_error(
    project: Project, arguments: str, found: str, expected: str
) -> None:
    project.write("test_model.py", _TEST.format(arguments=arguments))

    result = project.run("--opcost")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(errors=1)
    (line,) = [
        line for line in result.outlines if line.startswith("@pytest.mark.opcost of test_model.py::test_model: ")
    ]
    assert line.endswith(found)
    assert expected in result.stdout.str()
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert project.seam.calls == []


@pytest.mark.parametrize("args", [[], ["--collect-only"], ["--opcost", "--collect-only"]], ids=" ".join)
def test_where_nothing_is_measured_it_does_not_matter(project: Project, args: list[str]) -> None:
    project.write("test_model.py", _TEST.format(arguments="tolerence=0.1"))
    project.write("test_other.py", "def test_other():\n    pass\n")

    result = project.run(*args)

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(**({} if "--collect-only" in args else {"passed": 1, "skipped": 1}))
    assert "tolerence" not in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["one process", "xdist"])
def test_the_other_tests_go_on(suite: Project, workers: list[str]) -> None:
    if workers:
        pytest.importorskip("xdist")
    suite.write(
        "test_model.py",
        _TEST.format(arguments="tolerence=0.1") + "\n\ndef test_two(opcost, step):\n    opcost.check(step)\n",
    )
    suite.write("test_other.py", "def test_other():\n    pass\n")

    result = suite.pytester.run(sys.executable, "-m", "pytest", "--opcost", "--opcost-rounds=0", *workers)

    result.assert_outcomes(passed=2, errors=1)
    assert "The closest to tolerence is tolerance." in result.outlines


def test_a_test_that_takes_no_fixture_of_ours_is_told_too(project: Project) -> None:
    project.write("test_other.py", "import pytest\n\n\n@pytest.mark.opcost(top=0)\ndef test_other():\n    pass\n")

    project.run("--opcost").assert_outcomes(passed=1, errors=1)


def test_the_arguments_reach_the_measurement(project: Project) -> None:
    project.write("test_model.py", _TEST.format(arguments="warmup=7, steps=11, top=3"))

    project.record()
    project.run("--opcost", "--opcost-steps=99", "--opcost-warmup=99")

    ((_, check, _),) = project.seam.calls
    assert (check.warmup, check.steps, check.top) == (7, 11, 3)


def test_the_closest_marker_wins_and_the_others_still_count(project: Project) -> None:
    project.write(
        "test_model.py",
        """
import pytest

pytestmark = pytest.mark.opcost(warmup=1, steps=2, ratios={"copy/total": 0.1})


@pytest.mark.opcost(steps=3)
class TestModel:
    @pytest.mark.opcost(top=4, ratios={"pool/total": 0.2})
    def test_model(self, opcost, step):
        opcost.check(step, top=5)
""",
    )

    project.run("--opcost")

    _, check, _ = project.seam.calls[0]
    assert (check.warmup, check.steps, check.top) == (1, 3, 5)
    assert dict(check.ratios) == {"conv/addmm": None, "copy/total": 0.1, "pool/total": 0.2}


def test_the_marker_is_registered_and_documented(project: Project) -> None:
    result = project.run("--markers")

    result.stdout.fnmatch_lines(["@pytest.mark.opcost(top=10, ratios={'conv/addmm': 0.10}, tolerance=None, *"])


def test_a_mistaken_argument_of_the_call_is_the_tests_failure(project: Project) -> None:
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step, tolerence=0.1, nmae='a')\n")

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    assert "OptionError: opcost.check in test_model.py::test_model: unknown arguments nmae, tolerence." in text
    assert "Expected: name, device, top, ratios, tolerance, floor, warmup, steps, on_drift, fail_on." in text
    assert "The closest to nmae is name." in text
    assert "api.py" not in text
    assert "options.py" not in text


def test_a_misspelt_ratio_of_the_call_is_the_tests_failure(project: Project) -> None:
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step, ratios={'con/total': 1})\n")

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    assert "OptionError: opcost.check in test_model.py::test_model: ratios: 'con/total' is no ratio" in (
        result.stdout.str()
    )
    assert project.seam.calls == []
