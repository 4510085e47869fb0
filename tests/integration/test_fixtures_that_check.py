"""A check in a fixture counts like one in the test: it is told, kept, and told once."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from .project import summary, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from .project import Project

_TEST = """
import pytest


@pytest.fixture
def checked(opcost, step):
    opcost.check(step, name="before")
    yield
    opcost.check(step, name="after")


def test_model(opcost, step, checked):
    opcost.check(step)
"""


def _run_here(project: Project, *args: str) -> pytest.RunResult:
    return project.run(*args)


def _run_in_workers(project: Project, *args: str) -> pytest.RunResult:
    pytest.importorskip("xdist")
    project.installs_its_own_seam()
    return project.pytester.run(sys.executable, "-m", "pytest", "-n", "1", *args)


@pytest.mark.parametrize("run", [_run_here, _run_in_workers])
def test_checks_before_and_after_the_test_are_told_once_each(
    project: Project, run: Callable[..., pytest.RunResult]
) -> None:
    project.write("test_model.py", _TEST)

    result = run(project, "--opcost", "--opcost-json=out.json")

    result.assert_outcomes(passed=1)
    assert "opcost: 3 recorded" in summary(result)
    document = json.loads((project.path / "out.json").read_text())
    assert [test["check"] for test in document["tests"]] == ["before", None, "after"]
    assert len(project.files()) == 3


def test_a_drift_in_a_fixture_is_an_error_of_the_test_and_told(project: Project) -> None:
    project.write("test_model.py", _TEST)
    project.record()
    project.lenet(addmm=[2000.0, 2])

    result = project.run("--opcost")

    result.assert_outcomes(errors=1)
    assert "DRIFTED test_model.py::test_model (before)" in told(result)
    assert "opcost: 1 drifted" in summary(result)
