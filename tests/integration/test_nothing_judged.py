"""`--opcost` was given and nothing was judged: a failing exit status, whatever the reason."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from .project import told

if TYPE_CHECKING:
    from .project import Project

_MESSAGE = "ERROR: --opcost was given and nothing was judged."


@pytest.mark.parametrize(
    ("test", "options"),
    [
        ("def test_plain():\n    pass\n", []),
        ("", []),
        ("def test_model(opcost, step):\n    pass\n", []),
        ("import pytest\n\n\ndef test_model(opcost):\n    pytest.skip('no model')\n", []),
        ("def test_model(opcost, step):\n    opcost.check(step)\n", ["-k", "other"]),
        ("def test_model(opcost, step):\n    opcost.check(step)\n", ["-p", "no:xdist", "-k", "other"]),
        ("def test_model(opcost, step):\n    opcost.check(step)\n", ["--opcost-missing=report"]),
    ],
    ids=["no opcost test", "no test", "no check", "skipped", "deselected", "without xdist", "no baseline"],
)
def test_nothing_judged_fails(project: Project, test: str, options: list[str]) -> None:
    project.write("test_model.py", test)

    result = project.run("--opcost", *options)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert told(result).count(_MESSAGE) == 1
    assert "Expected: at least one opcost test that ran and has a baseline to compare with." in told(result)


def test_one_check_that_compared_is_enough(project: Project) -> None:
    project.record()
    project.write("test_plain.py", "def test_plain():\n    pass\n")

    result = project.run("--opcost")

    assert result.ret == 0
    assert "ERROR" not in told(result)


def test_a_worse_exit_status_is_kept(project: Project) -> None:
    project.write("test_model.py", "def test_model(:\n")

    result = project.run("--opcost")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "ERROR: nothing was judged: 1 file could not be collected." in told(result)


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("import pytest\n\n\ndef test_model(opcost):\n    pytest.exit('enough')\n", "the run was interrupted"),
        ("import no_such_module\n", "1 file could not be collected"),
        ("def test_model(opcost, no_such_fixture):\n    pass\n", "1 opcost test failed before a verdict"),
        ("def test_model(opcost):\n    opcost.check(None)\n", "1 opcost test failed before a verdict"),
        (
            "def test_one(opcost):\n    assert False\n\n\ndef test_two(opcost):\n    assert False\n",
            "2 opcost tests failed before a verdict",
        ),
    ],
    ids=["exit", "import error", "no fixture", "no step", "two"],
)
def test_what_kept_it_from_judging_is_told(project: Project, test: str, why: str) -> None:
    project.write("test_model.py", test)

    result = project.run("--opcost")

    assert result.ret not in (pytest.ExitCode.OK, pytest.ExitCode.INTERNAL_ERROR)
    assert f"ERROR: nothing was judged: {why}." in told(result)
    assert _MESSAGE not in told(result)


def test_a_damaged_baseline_kept_it_from_judging(project: Project) -> None:
    (baseline,) = project.record()
    baseline.write_text("")

    assert "ERROR: nothing was judged: 1 opcost test failed before a verdict." in told(project.run("--opcost"))


def test_a_failure_for_want_of_a_baseline_is_a_verdict(project: Project) -> None:
    assert _MESSAGE in told(project.run("--opcost", "--opcost-missing=fail"))


def test_a_plain_test_that_failed_kept_nothing_from_being_judged(project: Project) -> None:
    project.write("test_model.py", "def test_plain():\n    assert False\n")

    assert _MESSAGE in told(project.run("--opcost"))


def test_ctrl_c(suite: Project) -> None:
    suite.write("test_model.py", "def test_model(opcost):\n    raise KeyboardInterrupt\n")

    result = suite.pytester.run(sys.executable, "-m", "pytest", "--opcost")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "ERROR: nothing was judged: the run was interrupted." in told(result)


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("import no_such_module\n", "1 file could not be collected"),
        ("def test_model(opcost):\n    assert False\n", "1 opcost test failed before a verdict"),
    ],
    ids=["import error", "failure"],
)
def test_workers_tell_it_too(suite: Project, test: str, why: str) -> None:
    pytest.importorskip("xdist")
    suite.write("test_model.py", test)

    result = suite.pytester.run(sys.executable, "-m", "pytest", "--opcost", "-n1")

    assert f"ERROR: nothing was judged: {why}." in told(result)


@pytest.mark.parametrize("option", ["--collect-only", "--fixtures", "--markers", "--help", "--version"])
def test_a_run_that_is_not_meant_to_test_does_not_fail(project: Project, option: str) -> None:
    assert project.run("--opcost", option).ret == 0


def test_without_opcost_nothing_need_be_judged(project: Project) -> None:
    assert project.run().ret == 0
