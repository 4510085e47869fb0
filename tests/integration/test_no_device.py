"""A device that is not there: an error before any test, never a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_opcost import DeviceError

from .project import failure

if TYPE_CHECKING:
    from .project import Project


@pytest.mark.parametrize("options", [["--opcost"], ["--opcost-update-baselines"], ["--opcost-update-missing"]])
def test_a_device_that_is_not_there_is_a_usage_error_before_any_test(project: Project, options: list[str]) -> None:
    project.seam.absent = DeviceError("--opcost-device=cuda: no such device is visible.\nFound: nothing.")

    result = project.run("--opcost-device=cuda", *options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [
        "ERROR: --opcost-device=cuda: no such device is visible.",
        "Found: nothing.",
    ]
    assert "test_model.py" not in result.stdout.str()
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert project.seam.calls == []
    assert project.files() == {}


def test_collecting_needs_no_device(project: Project) -> None:
    project.seam.absent = DeviceError("absent")

    assert project.run("--opcost", "--opcost-device=cuda", "--collect-only").ret == 0


def test_without_opcost_no_device_is_looked_for(project: Project) -> None:
    project.seam.absent = DeviceError("absent")

    project.run("--opcost-device=cuda").assert_outcomes(skipped=1)


def test_a_profiler_that_sees_no_kernel_fails_the_test(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = project.record("--opcost-device=cuda")

    def blind(*_: object) -> None:
        raise DeviceError("the profiler saw no kernel on cuda.\nExpected: at least one kernel.")

    monkeypatch.setattr("pytest_opcost.seams.measure_step", blind)

    result = project.run("--opcost-update-baselines", "--opcost-device=cuda")

    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "DeviceError: the profiler saw no kernel on cuda." in failure(result)
    assert project.files() == before
