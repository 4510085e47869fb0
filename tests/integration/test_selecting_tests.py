"""Of the tests that pytest is told to select or to stop at, and of no others, opcost tells what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .project import summary, told

if TYPE_CHECKING:
    from .project import Project


@pytest.fixture
def drifted(project: Project) -> Project:
    """A project of four tests, of which the second and the third have drifted."""
    (project.path / "test_model.py").unlink()
    project.checks("test_one", "test_two", "test_three", "test_four")
    project.record()
    project.lenet(test="test_two", addmm=[2000.0, 2])
    project.lenet(test="test_three", addmm=[2000.0, 2])
    return project


@pytest.mark.parametrize(
    ("args", "passed", "failed"),
    [
        (["-x"], 1, 1),
        (["--maxfail=1"], 1, 1),
        (["--maxfail=2"], 1, 2),
        (["--sw"], 1, 1),
        (["--sw", "--sw-skip"], 1, 2),
        (["-k", "one or two"], 1, 1),
        (["-k", "not three"], 2, 1),
        (["--deselect=test_more.py::test_two"], 2, 1),
        (["--deselect=test_more.py::test_two", "--deselect=test_more.py::test_three"], 2, 0),
        (["test_more.py::test_two"], 0, 1),
        (["test_more.py::test_two", "test_more.py::test_four"], 1, 1),
        (["--ignore=nothing", "--nf", "--ff"], 2, 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_ran_is_told(drifted: Project, args: list[str], passed: int, failed: int) -> None:
    before = drifted.files()

    result = drifted.run("--opcost", *args)

    counts = {"passed": passed, "failed": failed}
    assert {name: result.parseoutcomes().get(name, 0) for name in counts} == counts
    parts = [f"{passed} passed"] * bool(passed) + [f"{failed} drifted"] * bool(failed)
    assert f"opcost: {', '.join(parts)}" in summary(result)
    assert result.ret != pytest.ExitCode.OK or not failed
    assert drifted.files() == before


def test_stepwise_goes_on_where_it_stopped(drifted: Project) -> None:
    drifted.run("--opcost", "--sw").assert_outcomes(passed=1, failed=1)

    result = drifted.run("--opcost", "--sw")
    assert result.parseoutcomes()["failed"] == 1
    assert "opcost: 1 drifted" in summary(result)
    assert "DRIFTED test_more.py::test_two" in told(result)

    drifted.lenet(test="test_two")
    result = drifted.run("--opcost", "--sw")
    assert "opcost: 1 passed, 1 drifted" in summary(result)
    assert "DRIFTED test_more.py::test_three" in told(result)


def test_last_failed_runs_what_drifted(drifted: Project) -> None:
    drifted.run("--opcost").assert_outcomes(passed=2, failed=2)

    result = drifted.run("--opcost", "--lf")

    assert result.parseoutcomes()["failed"] == 2
    assert "opcost: 2 drifted" in summary(result)


@pytest.mark.parametrize("args", [["--co"], ["--co", "-q"], ["--co", "-qq"], ["--co", "-k", "two"]], ids=" ".join)
def test_collecting_alone_measures_and_tells_nothing(drifted: Project, args: list[str]) -> None:
    before = drifted.files()

    result = drifted.run("--opcost", "--opcost-update-baselines", *args)

    assert result.ret == pytest.ExitCode.OK
    assert "test_more.py" in result.stdout.str()
    assert "operator costs" not in result.stdout.str()
    assert drifted.seam.calls == []
    assert drifted.files() == before
