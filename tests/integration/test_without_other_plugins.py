"""`-p no:` of opcost itself, and of pytest's own plugins that it works with."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from .project import failure

if TYPE_CHECKING:
    from .project import Project


def test_opcost_itself_switched_off_leaves_nothing_behind(project: Project) -> None:
    project.write("test_other.py", "def test_other():\n    pass\n")

    result = project.run("-p", "no:opcost")

    result.assert_outcomes(passed=1, errors=1)
    assert "fixture 'opcost' not found" in failure(result)
    assert "--opcost" not in project.run("-p", "no:opcost", "--help").stdout.str()
    refused = project.run("-p", "no:opcost", "--opcost")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    assert "unrecognized arguments: --opcost" in refused.stderr.str()


def test_without_the_terminal_it_records_compares_and_fails(project: Project) -> None:
    assert project.run("--opcost", "-p", "no:terminal").ret == pytest.ExitCode.OK
    before = project.files()
    assert len(before) == 1
    project.lenet(addmm=[2000.0, 2])

    result = project.run("--opcost", "-p", "no:terminal", "--opcost-json=out.json")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (test,) = json.loads((project.path / "out.json").read_text())["tests"]
    assert test["verdict"] == "drifted"
    assert project.files() == before


def test_without_the_terminal_mistakes_are_told_all_the_same(project: Project) -> None:
    result = project.run("--opcost", "-p", "no:terminal", "--opcost-top=0")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--opcost-top='0' is not valid." in result.stderr.str()
    assert project.run("--opcost", "-p", "no:terminal", "-k", "nothing").ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("name", ["cacheprovider", "warnings", "junitxml", "doctest", "capture", "logging", "unittest"])
def test_without_another_of_pytests_plugins(project: Project, name: str) -> None:
    project.record("-p", f"no:{name}")
    project.lenet(addmm=[2000.0, 2])

    result = project.run("--opcost", "-p", f"no:{name}", "--opcost-prune-baselines")

    result.assert_outcomes(failed=1)
    assert "aten::addmm (addmm): 2,000 us a step" in failure(result)


def test_fresh_processes_need_none_of_them_either(suite: Project) -> None:
    suite.record()
    suite.lenet(gelu=[2100.0, 3])
    off = [f"-pno:{name}" for name in ("cacheprovider", "warnings", "junitxml", "doctest", "logging", "unittest")]

    result = suite.pytester.run(sys.executable, "-m", "pytest", "--opcost", *off)

    result.assert_outcomes(failed=1)
    assert "measured 6 times" in failure(result)
