"""Everything that pytest can be strict about leaves opcost alone, and the other way round."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from .project import failure, summary

if TYPE_CHECKING:
    from .project import Project

_STRICT = [
    ["-W", "error"],
    ["--strict-markers"],
    ["--strict-config"],
    ["-W", "error", "--strict-markers", "--strict-config", "-o", "xfail_strict=true"],
    ["--import-mode=importlib"],
]


@pytest.mark.parametrize("args", _STRICT, ids=" ".join)
def test_it_records_compares_and_finds_a_drift(project: Project, args: list[str]) -> None:
    project.write("pytest.ini", "[pytest]\n")
    project.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.opcost(top=3)\ndef test_model(opcost, step):\n    opcost.check(step)\n",
    )
    project.run("--opcost", *args).assert_outcomes(passed=1)
    before = project.files()
    assert len(before) == 1

    project.run("--opcost", *args).assert_outcomes(passed=1)
    project.lenet(addmm=[2000.0, 2])
    result = project.run("--opcost", *args)

    result.assert_outcomes(failed=1)
    assert "aten::addmm (addmm): 2,000 us a step" in failure(result)
    assert project.files() == before


@pytest.mark.parametrize("args", [*_STRICT, ["--import-mode=append"]], ids=" ".join)
def test_fresh_processes_are_as_strict(suite: Project, args: list[str]) -> None:
    suite.write("pytest.ini", "[pytest]\n")

    result = suite.pytester.run(sys.executable, "-m", "pytest", "--opcost", "--opcost-rounds=2", *args)

    result.assert_outcomes(passed=1)
    assert result.stderr.str() == ""
    assert "opcost: 1 recorded" in summary(result)
    (text,) = suite.files().values()
    assert "4000, 4000" in text


def test_a_mistaken_ini_line_is_pytests_to_tell(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nopcost_batchsize = 3\n")

    result = project.run("--opcost", "--strict-config")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "Unknown config option: opcost_batchsize" in result.stderr.str()
