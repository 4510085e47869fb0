"""Without a baseline of this machine, another machine's tells the exact facts and nothing of the cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .fake_seam import LENET
from .project import failure, summary, told

if TYPE_CHECKING:
    from .project import Project


def test_the_exact_facts_are_compared_and_the_cost_is_told_to_be_not_judged(project: Project) -> None:
    before = project.record()
    project.costs({**LENET, "aten::addmm": [9000.0, 2]}, machine="Chip B")

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert result.ret == 0
    text = told(result)
    assert "not judged test_model.py::test_model" in text
    assert "cost not judged: compared with a baseline recorded 20" in text
    assert "on cpu-chip-a-1-thread-torch2.9: exact facts only" in text
    assert "record this machine's own baselines with --opcost-update-missing" in text
    assert "opcost: 1 not judged" in summary(result)
    assert project.files() == before


def test_in_ci_that_is_enough_to_pass(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.record()
    project.costs(machine="Chip B")
    monkeypatch.setenv("CI", "1")

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert result.ret == 0


def test_an_exact_change_fails_there_too(project: Project) -> None:
    project.record()
    project.costs({**LENET, "aten::clone": 5.0}, machine="Chip B")

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    message = failure(result)
    assert "- aten::clone (copy) is new: 1 call a step (was 0)" in message
    assert "on cpu-chip-a-1-thread-torch2.9: exact facts only)" in message
    assert "Baseline: baselines/cpu-chip-a-1-thread-torch2.9/" in message


@pytest.mark.parametrize(
    ("machine", "options"),
    [
        ({"torch": "2.8.0"}, []),
        ({}, ["--opcost-threads=2"]),
        ({}, ["--opcost-device=cuda"]),
    ],
    ids=["torch minor", "threads", "device"],
)
def test_a_machine_too_different_is_no_baseline(project: Project, machine: dict[str, str], options: list[str]) -> None:
    project.record()
    project.costs(**machine)

    result = project.run("--opcost", "--opcost-missing=fail", *options)

    result.assert_outcomes(failed=1)
    assert "no baseline on this machine" in failure(result)


def test_a_patch_level_of_torch_is_the_same_machine(project: Project) -> None:
    project.record()
    project.costs(torch="2.9.7+cu130")

    assert "opcost: 1 passed" in summary(project.run("--opcost"))


def test_the_system_allocator_is_another_machine(project: Project) -> None:
    project.record("--opcost-allocator=system")

    (path,) = project.files()
    assert path.parent.name == "cpu-chip-a-1-thread-system-malloc-torch2.9"
    assert "cost not judged" in told(project.run("--opcost"))


def test_a_machine_of_the_same_isa_is_preferred(project: Project) -> None:
    project.costs(machine="Chip A", capability="x86_64 AVX2")
    project.record()
    project.costs({**LENET, "aten::clone": 5.0}, machine="Chip B", capability="x86_64 AVX512")
    project.record()
    project.costs({**LENET, "aten::clone": 5.0}, machine="Chip C", capability="x86_64 AVX512")

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "on cpu-chip-b-1-thread-torch2.9" in told(result)


def test_update_missing_records_this_machines_own(project: Project) -> None:
    before = project.record()
    project.costs(machine="Chip B")

    project.run("--opcost-update-missing").assert_outcomes(passed=1)

    after = project.files()
    assert len(after) == 2
    assert {path: after[path] for path in before} == before
    assert "opcost: 1 passed" in summary(project.run("--opcost"))
