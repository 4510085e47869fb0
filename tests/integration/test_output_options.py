"""`-s`, `-q` and `-vv` change how much is told, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .project import failure, summary

if TYPE_CHECKING:
    from .project import Project

_OPTIONS = [
    ["-s"],
    ["--capture=fd"],
    ["--capture=sys"],
    ["--capture=tee-sys"],
    ["-q"],
    ["-qq"],
    ["-v"],
    ["-vv"],
    ["-vvv"],
    ["-rA"],
    ["--no-header"],
    ["--tb=no"],
    ["--durations=3"],
    ["--show-capture=no"],
    ["--color=yes"],
]


@pytest.mark.parametrize("args", _OPTIONS, ids=" ".join)
def test_what_is_recorded_and_what_fails_is_the_same(project: Project, args: list[str]) -> None:
    assert project.run("--opcost", *args).ret == pytest.ExitCode.OK
    before = project.files()
    assert len(before) == 1
    assert project.run("--opcost", *args).ret == pytest.ExitCode.OK
    project.lenet(addmm=[2000.0, 2])

    result = project.run("--opcost", *args)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "2,000 us a step" in result.stdout.str()
    assert project.files() == before
    assert len({check for _, check, _ in project.seam.calls}) == 1


def test_what_a_step_prints_is_captured_and_shown_with_its_failure(project: Project) -> None:
    project.record()
    project.lenet(addmm=[2000.0, 2])
    project.write(
        "test_model.py",
        "def test_model(opcost, step):\n    def speaks():\n        print('from', 'the', 'step')\n"
        "        return step()\n\n"
        "    opcost.check(speaks)\n",
    )

    quiet = project.run("--opcost", "--show-capture=no")
    shown = project.run("--opcost")
    free = project.run("--opcost", "-s")

    assert "from the step" not in quiet.stdout.str()
    assert "Captured stdout call" in shown.stdout.str()
    assert shown.stdout.str().count("from the step") == free.stdout.str().count("from the step") > 1
    assert failure(shown) == failure(free)
    assert summary(shown) == summary(free)
