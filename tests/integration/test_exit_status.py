"""The exit status is pytest's own, and each of them means what the documentation says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_opcost.errors import DeviceError

if TYPE_CHECKING:
    from .project import Project


@pytest.fixture
def recorded(project: Project) -> Project:
    project.record()
    return project


def test_0_everything_holds(recorded: Project) -> None:
    assert recorded.run("--opcost").ret == 0


def test_0_a_drift_that_is_only_reported(recorded: Project) -> None:
    recorded.lenet(copy_=None)
    assert recorded.run("--opcost", "--opcost-on-drift=report").ret == 0


def test_1_a_drift(recorded: Project) -> None:
    recorded.lenet(copy_=None)
    assert recorded.run("--opcost").ret == 1


def test_1_a_missing_baseline_in_ci(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert project.run("--opcost").ret == 1


@pytest.mark.parametrize("options", [["-k", "nothing"], ["--opcost-missing=report"], ["--deselect=test_model.py"]])
def test_1_nothing_was_judged(project: Project, options: list[str]) -> None:
    assert project.run("--opcost", *options).ret == 1


@pytest.mark.parametrize("option", ["json=file/a.json", "export=csv:file/a.csv"])
def test_1_a_report_that_could_not_be_written(recorded: Project, option: str) -> None:
    recorded.gets_in_the_way("file")
    assert recorded.run("--opcost", f"--opcost-{option}").ret == 1


def test_2_a_file_that_cannot_be_collected(recorded: Project) -> None:
    recorded.write("test_broken.py", "def test_model(:\n")
    assert recorded.run("--opcost").ret == 2


def test_4_an_option_that_makes_no_sense(recorded: Project) -> None:
    assert recorded.run("--opcost", "--opcost-export=csv").ret == 4


@pytest.mark.parametrize("option", ["json=file/a.json", "export=csv:file/a.csv"])
def test_4_a_report_that_cannot_be_written(recorded: Project, option: str) -> None:
    recorded.write("file", "in the way\n")
    assert recorded.run("--opcost", f"--opcost-{option}").ret == 4


def test_4_a_device_that_is_not_there(recorded: Project) -> None:
    recorded.seam.absent = DeviceError("there is no such device")
    assert recorded.run("--opcost").ret == 4


def test_5_without_opcost_when_there_is_no_test(recorded: Project) -> None:
    assert recorded.run("-k", "nothing").ret == 5
