"""Cheaper than the baseline passes, says so, and names the command that banks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .project import summary, told

if TYPE_CHECKING:
    from .project import Project


def test_cheaper_passes_and_gives_the_command(project: Project) -> None:
    before = project.record()
    project.lenet(gelu=[750.0, 3])

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "aten::gelu (elementwise): 750 us a step, was 1,500 us (-50 %): cheaper than the baseline" in told(result)
    assert '      bank it: pytest "test_model.py::test_model" --opcost-update-baselines' in summary(result)
    assert "opcost: 1 passed" in summary(result)
    assert project.files() == before


def test_the_command_banks_it(project: Project) -> None:
    project.record()
    project.lenet(gelu=[750.0, 3])
    project.run("test_model.py::test_model", "--opcost-update-baselines").assert_outcomes(passed=1)

    assert "than the baseline" not in told(project.run("--opcost"))
    project.lenet()
    project.run("--opcost").assert_outcomes(failed=1)


def test_a_little_cheaper_is_not_worth_a_word(project: Project) -> None:
    project.record()
    project.lenet(gelu=[1480.0, 3])

    assert "than the baseline" not in told(project.run("--opcost"))
