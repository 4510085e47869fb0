"""`--opcost` was given and nothing was judged: a failing exit status, whatever the reason."""

from __future__ import annotations

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
    assert _MESSAGE in told(result)


@pytest.mark.parametrize("option", ["--collect-only", "--fixtures", "--markers", "--help", "--version"])
def test_a_run_that_is_not_meant_to_test_does_not_fail(project: Project, option: str) -> None:
    assert project.run("--opcost", option).ret == 0


def test_without_opcost_nothing_need_be_judged(project: Project) -> None:
    assert project.run().ret == 0
