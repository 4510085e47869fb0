"""`--device` is a second name of `--opcost-device`, unless somebody else owns it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from .project import failure

if TYPE_CHECKING:
    from .project import Project

_OWNER = """
def pytest_addoption(parser):
    parser.addoption("--device", action="store", default=None, help="a browser's")


import pytest


@pytest.fixture
def device(request):
    return request.config.getoption("--device")
"""


def _devices(project: Project) -> set[str]:
    return {device for _, _, device in project.seam.calls}


@pytest.mark.parametrize(
    "options",
    [["--device=cuda"], ["--device", "cuda"], ["--opcost-device=cuda"], ["--opcost-device", "cuda"]],
    ids=" ".join,
)
def test_the_alias_is_the_option(project: Project, options: list[str]) -> None:
    project.run("--opcost", *options, "test_model.py").assert_outcomes(passed=1)

    assert _devices(project) == {"cuda"}


def test_both_names_add_up_and_may_be_repeated(project: Project) -> None:
    project.run("--opcost", "--device=cuda", "--opcost-device=cpu", "--device=cuda:1,cpu")

    assert project.seam.calls[0][0].devices == ("cuda", "cpu", "cuda:1")


@pytest.fixture
def foreign(project: Project) -> Project:
    """A project whose conftest owns `--device`."""
    project.write("conftest.py", (project.path / "conftest.py").read_text() + _OWNER)
    project.write("test_browser.py", "def test_browser(device):\n    assert device in (None, 'phone')\n")
    return project


def test_a_foreign_device_option_keeps_working(foreign: Project) -> None:
    result = foreign.run("--device=phone", "-v")

    result.assert_outcomes(passed=1, skipped=1)
    assert result.stderr.str() == ""


def test_a_foreign_device_option_that_is_not_given_is_in_nobodys_way(foreign: Project) -> None:
    foreign.run("--opcost").assert_outcomes(passed=2)
    assert _devices(foreign) == {"cpu"}


def test_a_foreign_device_given_with_opcost_is_a_usage_error_that_says_so(foreign: Project) -> None:
    result = foreign.run("--opcost", "--device=phone")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [
        "ERROR: --device=phone belongs to another plugin or conftest here, so opcost does not see it.",
        "Run: pytest --opcost --opcost-device=phone",
    ]


def test_the_long_name_works_beside_it(foreign: Project) -> None:
    foreign.run("--opcost", "--opcost-device=cuda").assert_outcomes(passed=2)
    assert _devices(foreign) == {"cuda"}
    foreign.seam.calls.clear()

    foreign.run("--opcost", "--device=phone", "--opcost-device=cuda").assert_outcomes(passed=2)
    assert _devices(foreign) == {"cuda"}


@pytest.mark.parametrize("order", [["-p", "browser"], []], ids=["early", "late"])
def test_a_plugin_that_owns_it(project: Project, order: list[str]) -> None:
    project.write("browser.py", _OWNER)
    if not order:
        project.write("conftest.py", (project.path / "conftest.py").read_text() + "\npytest_plugins = ['browser']\n")

    result = project.pytester.run(sys.executable, "-m", "pytest", *order, "--device=phone")

    result.assert_outcomes(skipped=1)


def test_an_owner_that_takes_certain_values_only(project: Project) -> None:
    """Asked whether it knows `--device=cpu`, such an owner refuses the value: it is an owner all the same."""
    project.write(
        "conftest.py", (project.path / "conftest.py").read_text() + _OWNER.replace("help=", "choices=['phone'], help=")
    )

    project.run("--device=phone").assert_outcomes(skipped=1)
    project.run("--opcost").assert_outcomes(passed=1)


def test_no_fixture_of_ours_is_called_device(project: Project) -> None:
    project.write("test_model.py", "def test_model(device):\n    pass\n")

    result = project.run()

    result.assert_outcomes(errors=1)
    assert "fixture 'device' not found" in failure(result)


def test_help_tells_both_names(project: Project) -> None:
    text = project.run("--help").stdout.str()

    assert "--opcost-device=DEVICE" in text
    assert "--device=DEVICE" in text
    assert "same as --opcost-device" in text
