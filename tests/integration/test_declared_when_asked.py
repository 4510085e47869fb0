"""Pytest is told of options that take a value only where one may stand; wherever one can stand, it is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pytest_opcost import declared
from pytest_opcost.plugin import FLAGS

if TYPE_CHECKING:
    from .project import Project

#: Prints whether the options are declared, and what a run takes them for.
_TELLER = """
def pytest_sessionstart(session):
    config = session.config
    print("DECLARED", hasattr(config.option, "opcost_steps"))


def pytest_report_header(config):
    from pytest_opcost.plugin import options_of

    return f"STEPS {options_of(config).check.steps}"
"""


def _told(project: Project, *args: str) -> tuple[str, str]:
    """Whether the options were declared, and how many steps are to be measured."""
    project.write("teller.py", _TELLER)
    result = project.pytester.run(sys.executable, "-m", "pytest", "-p", "teller", "-s", *args)
    assert result.ret == 0, result.stdout.str()
    lines = {line.partition(" ")[0]: line.partition(" ")[2] for line in result.outlines}
    return lines["DECLARED"], lines["STEPS"]


def test_nobody_who_asks_for_nothing_pays_for_them(project: Project) -> None:
    assert _told(project) == ("False", "None")
    assert _told(project, "-pno:pastebin", "-vsl", "-rh", "--show-capture=no") == ("False", "None")


def test_a_conftest_may_always_ask_for_the_flags(project: Project) -> None:
    names = [f"--{name}" for name, _ in FLAGS]
    project.write(
        "conftest.py", f"def pytest_configure(config):\n    print('ASKED', [config.getoption(n) for n in {names}])\n"
    )
    for args, expected in (((), [None] * 5), (("--opcost",), [True, *[None] * 4])):
        result = project.pytester.run(sys.executable, "-m", "pytest", "-s", "--collect-only", *args)
        assert f"ASKED {expected}" in result.outlines


@pytest.mark.parametrize(
    "text",
    [
        '[project]\nname = "x"\ndependencies = ["pytest-opcost"]\n[tool.pytest.ini_options]\naddopts = "-q"\n',
        "[project]\nname = 'pytest_opcost'\n[tool.pytest.ini_options]\n# opcost stands here\ntestpaths = ['.']\n",
    ],
)
def test_a_requirement_asks_for_nothing(project: Project, text: str) -> None:
    (project.path / "pytest.ini").unlink()
    project.write("pyproject.toml", text)
    assert _told(project, "-v") == ("False", "None")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\nopcost_steps = 7\n"),
        ("pytest.ini", "[pytest]\nopcost_steps=7\n"),
        ("pytest.ini", "[pytest]\nopcost_steps: 7\n"),
        ("pytest.ini", "[pytest]\naddopts = -q\n  --opcost-steps=7\n"),
        ("tox.ini", "[pytest]\nopcost_steps = 7\n"),
        ("setup.cfg", "[tool:pytest]\nopcost_steps = 7\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\nopcost_steps = "7"\n'),
        ("pyproject.toml", '[tool.pytest.ini_options]\n"opcost_steps" = "7"\n'),
        ("pyproject.toml", '[tool.pytest]\nini_options = {opcost_steps = "7"}\n'),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["--opcost-steps", "7"]\n'),
    ],
)
def test_what_stands_in_the_ini_file_counts(project: Project, name: str, text: str) -> None:
    (project.path / "pytest.ini").unlink()
    project.write(name, text)
    assert _told(project, "-v") == ("True", "7")


@pytest.mark.parametrize(
    "args",
    [
        ("--opcost-steps=7",),
        ("--opcost-steps", "7"),
        ("-o", "opcost_steps=7"),
        ("-oopcost_steps=7",),
        ("--override-ini=opcost_steps=7",),
    ],
    ids=" ".join,
)
def test_what_stands_on_the_command_line_counts(project: Project, args: tuple[str, ...]) -> None:
    assert _told(project, *args) == ("True", "7")


def test_what_stands_in_a_file_of_arguments_counts(project: Project) -> None:
    pytest.importorskip("pytest", minversion="8.2")
    project.write("arguments.txt", "--opcost-steps=7\n")
    assert _told(project, "@arguments.txt") == ("True", "7")


@pytest.mark.parametrize(
    "words", ["-v --opcost-steps=7", "'--opcost-steps=7'", "--opcost-steps 7", '"--opcost-steps"=7']
)
def test_what_stands_in_the_environment_counts(project: Project, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", words)
    assert _told(project) == ("True", "7")


@pytest.mark.parametrize("words", ["'--device=cpu'", "'--device' cpu", "--device=cpu"])
def test_the_alias_in_the_environment_counts(project: Project, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", words)
    assert _told(project) == ("True", "None")


def test_a_file_of_arguments_that_the_ini_file_names_counts(project: Project) -> None:
    pytest.importorskip("pytest", minversion="8.2")
    project.write("arguments.txt", "--opcost-steps=7\n")
    project.write("pytest.ini", "[pytest]\naddopts = @arguments.txt\n")
    assert _told(project) == ("True", "7")


def test_a_flag_that_a_conftest_sets_counts(project: Project) -> None:
    text = (project.path / "conftest.py").read_text()
    project.write("conftest.py", text + "\n\ndef pytest_configure(config):\n    config.option.opcost = True\n")

    project.run().assert_outcomes(passed=1)

    assert project.seam.calls


def test_what_a_worker_was_handed_counts(project: Project) -> None:
    """A worker has the options of its controller, and not its words."""
    for handed in ({}, {"opcost": True, "opcost_steps": "7"}):
        config = pytest.Config.fromdictargs({**handed, "plugins": []}, [str(project.path)])
        try:
            config._do_configure()
            assert config.pluginmanager.has_plugin("opcost-run") is bool(handed)
        finally:
            config._ensure_unconfigure()


def test_a_wrong_value_in_the_ini_file_is_refused_and_not_taken_for_none(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nopcost = yeah\n")

    result = project.pytester.run(sys.executable, "-m", "pytest")

    assert result.ret not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    assert "yeah" in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize("hook", ["tryfirst=True", "trylast=True", "wrapper=True"])
def test_what_another_plugin_adds_counts(project: Project, hook: str) -> None:
    ends = "return (yield)" if "wrapper" in hook else "return None"
    project.write(
        "adds.py",
        f"""
import pytest


@pytest.hookimpl({hook})
def pytest_load_initial_conftests(args):
    args.append("--opcost-steps=7")
    {ends}
""",
    )
    assert _told(project, "-p", "adds") == ("True", "7")


@pytest.mark.parametrize("args", [("--help",), ("-h",), ("-vh",), ("-dh",)], ids=" ".join)
def test_help_names_them(project: Project, args: tuple[str, ...]) -> None:
    text = project.pytester.run(sys.executable, "-m", "pytest", *args).stdout.str()
    assert all(f"--opcost-{option.name}" in text for option in declared.OPTIONS)
