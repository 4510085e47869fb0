"""A failed check is the failure of that very test: an assertion at the user's line, seen by all of pytest."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from .project import failure, summary, told

if TYPE_CHECKING:
    from .project import Project


@pytest.fixture
def drifted(project: Project) -> Project:
    """A project of three tests, of which the second has drifted."""
    (project.path / "test_model.py").unlink()
    project.checks("test_one", "test_two", "test_three")
    project.record()
    project.lenet(test="test_two", addmm=[2000.0, 2])
    return project


def test_only_that_test_fails(drifted: Project) -> None:
    result = drifted.run("--opcost")

    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["FAILED test_more.py::test_two - aten::addmm +100 % (2,00*"])


def test_the_message_has_all_its_parts(drifted: Project) -> None:
    lines = failure(drifted.run("--opcost")).splitlines()

    assert lines[0] == (
        "pytest_opcost.DriftError: aten::addmm +100 % (2,000 us a step, was 1,000 us), and 1 more: "
        "test_more.py::test_two drifted from its baseline, measured 6 times:"
    )
    assert lines[1].startswith("- conv/addmm: 2, was 4 (-50 %): addmm moved, ")
    assert lines[2] == "- aten::addmm (addmm): 2,000 us a step, was 1,000 us (+100 %)"
    assert lines[3] == "No exact difference: same operators, same kernels, 100 % more time in aten::addmm"
    assert lines[4].startswith("Baseline: baselines/cpu-chip-a-1-thread-torch2.9/test_more.py-test_two-")
    assert ".yaml (recorded 20" in lines[4]
    assert lines[5] == 'If this is meant, accept it: pytest "test_more.py::test_two" --opcost-update-baselines'
    assert len(lines) == 6


def test_what_passes_is_told_apart_from_what_fails(drifted: Project) -> None:
    drifted.lenet(test="test_two", addmm=[2000.0, 2], gelu=[500.0, 3])

    first, rest = failure(drifted.run("--opcost")).split("What else moved:\n")

    assert "conv/addmm: " in first
    assert rest.startswith("- aten::gelu (elementwise): 500 us a step, was 1,500 us (-67 %): cheaper")


def test_many_findings_are_counted_rather_than_listed(drifted: Project) -> None:
    drifted.lenet(test="test_two", **{f"new_{letter}": 1.0 for letter in "abcdefghij"})

    message = failure(drifted.run("--opcost"))

    assert message.count("\n- aten::") == 8
    assert "- and 2 more: aten::new_i, aten::new_j\n" in message


@pytest.mark.parametrize("style", ["auto", "long", "short", "native", "line"])
def test_the_traceback_ends_at_the_users_line(drifted: Project, style: str) -> None:
    result = drifted.run("--opcost", f"--tb={style}")

    text = result.stdout.str()
    assert "opcost.check(step)" in text or style == "line"
    assert "test_more.py" in text
    for ours in ("session.py", "judge", "confirm("):
        assert ours not in text
    if style != "native":
        assert "api.py" not in text


@pytest.mark.parametrize("style", ["auto", "short", "native", "line", "no"])
def test_the_short_summary_begins_with_operator_and_figure(drifted: Project, style: str) -> None:
    lines = drifted.run("--opcost", "-k", "two", f"--tb={style}").outlines

    assert _short_summary(lines) == "FAILED test_more.py::test_two - aten::addmm +100 % (2,000 us a step, was 1,00..."
    told = any(re.match(r".*test_more\.py:\d+: aten::addmm \+100 %", line) for line in lines)
    assert told == (style == "line")


def test_so_does_that_of_a_run_with_workers(drifted: Project) -> None:
    pytest.importorskip("xdist")
    drifted.installs_its_own_seam()

    result = drifted.pytester.run(sys.executable, "-m", "pytest", "--opcost", "-k", "two", "-n1")

    assert _short_summary(result.outlines).startswith("FAILED test_more.py::test_two - aten::addmm +100 % (2,000 us")


def _short_summary(lines: list[str]) -> str:
    (line,) = (line for line in lines if line.startswith("FAILED "))
    return line


def test_so_does_a_verbose_one(drifted: Project) -> None:
    # Of the message pytest 8.0 tells the first line alone.
    result = drifted.run("--opcost", "-vv")

    result.stdout.fnmatch_lines(["FAILED test_more.py::test_two - aten::addmm +100 % (2,000 us *"])


def test_other_errors_of_the_package_begin_with_what_is_wrong(project: Project) -> None:
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step, top=0)\n")

    result = project.run("--opcost")

    result.stdout.fnmatch_lines(["E * pytest_opcost.errors.OptionError: *", "FAILED *::test_model - opcost.check in *"])


def test_exitfirst_stops_at_it(drifted: Project) -> None:
    result = drifted.run("--opcost", "-x")

    result.assert_outcomes(passed=1, failed=1)
    assert "opcost: 1 passed, 1 drifted" in summary(result)


def test_last_failed_runs_it_alone(drifted: Project) -> None:
    drifted.run("--opcost")

    drifted.run("--opcost", "--lf").assert_outcomes(failed=1)
    drifted.lenet(test="test_two")
    drifted.run("--opcost", "--lf").assert_outcomes(passed=1)


def test_junit_has_the_failure(drifted: Project) -> None:
    drifted.run("--opcost", "--junitxml=junit.xml")

    suite = ElementTree.parse(drifted.path / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")
    (case,) = (case for case in suite.iter("testcase") if case.find("failure") is not None)
    assert case.get("name") == "test_two"
    element = case.find("failure")
    assert element is not None
    assert "aten::addmm (addmm): 2,000 us a step, was 1,000 us" in element.get("message", "")


def test_it_is_an_assertion_error_and_one_of_the_packages_own(project: Project) -> None:
    project.record()
    project.lenet(addmm=[2000.0, 2])
    project.write(
        "test_model.py",
        """
import pytest
import pytest_opcost


def test_model(opcost, step):
    with pytest.raises(AssertionError, match="addmm moved") as caught:
        opcost.check(step)
    assert isinstance(caught.value, pytest_opcost.DriftError)
    assert isinstance(caught.value, pytest_opcost.OpcostError)
""",
    )

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "DRIFTED test_model.py::test_model" in told(result)


def test_an_expected_failure_may_be_marked(project: Project) -> None:
    project.record()
    project.lenet(addmm=[2000.0, 2])
    project.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.xfail(raises=AssertionError, strict=True)\n"
        "def test_model(opcost, step):\n    opcost.check(step)\n",
    )

    project.run("--opcost").assert_outcomes(xfailed=1)


def test_check_returns_the_result_of_a_test_that_passes(project: Project) -> None:
    project.record()
    project.write(
        "test_model.py",
        """
def test_model(opcost, step):
    result = opcost.check(step)
    assert result.verdict.outcome.value == "passed"
    assert result.ratios == {"conv/addmm": 4.0}
    assert result.profile.total_host_us == 10_000
    assert result.profile.by_name()["aten::addmm"].calls == 2
""",
    )

    project.run("--opcost").assert_outcomes(passed=1)


def test_a_step_that_raises_is_the_tests_failure(project: Project) -> None:
    before = project.record()
    project.write(
        "test_model.py", "def test_model(opcost):\n    def broken():\n        raise ValueError('no such layer')\n\n"
        "    opcost.check(broken)\n",
    )  # fmt: skip

    result = project.run("--opcost", "--opcost-update-baselines")

    result.assert_outcomes(failed=1)
    assert "ValueError: no such layer" in failure(result)
    assert project.files() == before
