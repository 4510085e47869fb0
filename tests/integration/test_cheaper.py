"""Cheaper than the baseline passes, says so, and names the command that banks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .project import failure, summary, told

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


def test_cheaper_fails_where_every_drift_does_and_gives_the_command(project: Project) -> None:
    project.record()
    project.lenet(gelu=[750.0, 3])

    result = project.run("--opcost", "--opcost-fail-on=drift")

    result.assert_outcomes(failed=1)
    lines = failure(result).splitlines()
    assert "measured 6 times:" in lines[0]
    assert "- aten::gelu (elementwise): 750 us a step, was 1,500 us (-50 %): cheaper than the baseline" in lines
    assert "No exact difference: same operators, same kernels, 50 % less time in aten::gelu" in lines
    assert lines[-1] == 'Bank it: pytest "test_model.py::test_model" --opcost-update-baselines'


@pytest.mark.parametrize(
    ("arguments", "options", "fails"),
    [
        ('fail_on="drift"', [], True),
        ('fail_on="dearer"', ["--opcost-fail-on=drift"], False),
        ('fail_on="drift", floor=800', [], False),
        ('fail_on="drift", floor=100', [], True),
        ('fail_on="drift"', ["--opcost-floor=800"], False),
    ],
)
def test_a_call_may_say_what_fails_and_from_where_on(
    project: Project, arguments: str, options: list[str], *, fails: bool
) -> None:
    project.record()
    project.lenet(gelu=[750.0, 3])
    project.write("test_model.py", f"def test_model(opcost, step):\n    opcost.check(step, {arguments})\n")

    project.run("--opcost", *options).assert_outcomes(failed=fails, passed=not fails)


def test_a_little_cheaper_is_not_worth_a_word(project: Project) -> None:
    project.record()
    project.lenet(gelu=[1480.0, 3])

    assert "than the baseline" not in told(project.run("--opcost"))
