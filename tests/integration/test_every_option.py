"""What holds of every option: a twin in the ini file, a line of help, and no value that may be left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_opcost import values
from pytest_opcost.declared import OPTIONS
from pytest_opcost.plugin import FLAGS

if TYPE_CHECKING:
    from .project import Project

_FLAGS = [f"--{name}" for name, _ in FLAGS]


def test_the_least_effects_in_the_help_are_those_of_the_judge() -> None:
    pytest.importorskip("numpy")
    from pytest_opcost.judge.timing.change import DEVICE_EFFECT, HOST_EFFECT
    from pytest_opcost.judge.timing.changes import DEVICE_FLOOR_US, HOST_FLOOR_US

    helps = {option.name: option.help for option in OPTIONS}
    assert f"default {HOST_FLOOR_US:g} of host time, {DEVICE_FLOOR_US:g} of device time" in helps["floor"]
    assert f"default {HOST_EFFECT:g} of host time, {DEVICE_EFFECT:g} of device time" in helps["tolerance"]


def test_it_has_a_twin_in_the_ini_file_and_both_have_their_help(project: Project) -> None:
    text = " ".join(project.run("--help").stdout.str().split())
    config = project.pytester.parseconfig("--opcost")

    for name, told in [*FLAGS, *((f"opcost-{option.name}", option.help) for option in OPTIONS)]:
        assert not config.getini(name.replace("-", "_"))
        assert text.count(" ".join(told.split())[:50].removesuffix("-")) >= 2
        assert f" --{name}" in text


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_what_its_values_must_be_is_known(option: object) -> None:
    assert callable(values.parser(option.kind))


@pytest.mark.parametrize("flag", _FLAGS)
def test_a_flag_does_not_swallow_the_path_behind_it(project: Project, flag: str) -> None:
    project.checks("test_more")

    result = project.run(flag, "test_model.py", "--collect-only", "-q")

    assert result.ret == pytest.ExitCode.OK
    assert "test_model.py::test_model" in result.outlines
    assert "test_more.py::test_more" not in result.outlines


@pytest.mark.parametrize("name", [option.name for option in OPTIONS])
def test_a_value_that_was_forgotten_is_told(project: Project, name: str) -> None:
    result = project.run(f"--opcost-{name}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"--opcost-{name}" in result.stderr.str()
    assert "expected one argument" in result.stderr.str()
