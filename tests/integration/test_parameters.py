"""Devices and batch sizes are parameters of the tests that ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .project import Project

_SIZES = "def test_model(opcost, opcost_batch_size, step):\n    opcost.check(step)\n"


def _ids(result: pytest.RunResult) -> list[str]:
    return [line.partition("::")[2] for line in result.outlines if "::" in line]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ([], ["test_model[1]", "test_model[16]", "test_model[64]"]),
        (["--opcost-batch-size=8"], ["test_model[8]"]),
        (["--opcost-batch-size=8, 2,8"], ["test_model[8]", "test_model[2]"]),
    ],
    ids=["default", "one", "several"],
)
def test_batch_sizes_are_parameters(project: Project, options: list[str], ids: list[str]) -> None:
    project.write("test_model.py", _SIZES)

    assert _ids(project.run("--collect-only", "-q", *options)) == ids


def test_devices_are_parameters_before_batch_sizes(project: Project) -> None:
    project.write("test_model.py", "def test_model(opcost, opcost_device, opcost_batch_size):\n    pass\n")

    result = project.run("--collect-only", "-q", "--device=cuda,cpu", "--opcost-batch-size=1,2")

    assert sorted(_ids(result)) == [
        "test_model[cpu-1]", "test_model[cpu-2]", "test_model[cuda-1]", "test_model[cuda-2]",
    ]  # fmt: skip


def test_each_configuration_has_a_baseline_of_its_own(project: Project) -> None:
    project.write("test_model.py", _SIZES)

    assert len(project.record()) == 3


def test_a_test_has_its_own_batch_sizes(project: Project) -> None:
    project.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.parametrize('opcost_batch_size', [3, 5])\n"
        "def test_model(opcost, opcost_batch_size, step):\n"
        "    assert opcost_batch_size in (3, 5)\n    opcost.check(step)\n",
    )

    project.run("--opcost").assert_outcomes(passed=2)

    assert [path.name.rpartition("-")[0] for path in project.files()] == [
        "test_model.py-test_model-3",
        "test_model.py-test_model-5",
    ]


def test_the_value_reaches_the_test_as_a_number(project: Project) -> None:
    project.write(
        "test_model.py",
        "def test_model(opcost, opcost_batch_size, step):\n    assert opcost_batch_size == 7\n    opcost.check(step)\n",
    )

    project.run("--opcost", "--opcost-batch-size=7").assert_outcomes(passed=1)


def test_a_test_that_asks_for_neither_runs_once(project: Project) -> None:
    result = project.run("--opcost", "--opcost-batch-size=1,2,3", "--opcost-device=cuda,cpu")

    result.assert_outcomes(passed=1)
    assert {device for _, _, device in project.seam.calls} == {"cuda"}
