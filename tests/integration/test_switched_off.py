"""Without `--opcost` the plugin only skips, and costs nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from .project import told

if TYPE_CHECKING:
    from .project import Project

_REASON = "measures operator costs: needs --opcost"

_SPY = """
import os
import sys
import tempfile

EARLY = "pytest_opcost.plugin" in sys.modules
TEMPORARY = {"/dev", tempfile.gettempdir()}  # asked for here: within the hook it waits for itself
STARTED, WRITTEN = [], []
WATCHED = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec", "os.system"}
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "tempfile.mkstemp"}
HEAVY = {
    "torch", "torchvision", "numpy", "yaml", "scipy", "tqdm", "tabulate", "jinja2", "matplotlib", "networkx",
    "tensorboard",
}


def audit(event, args):
    if event in WATCHED or event.startswith("socket."):
        STARTED.append(event)
    writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    # pytest itself opens the null device, and files in the folder for temporary ones, to capture.
    if (event in CHANGES or writes) and not TEMPORARY & {str(args[0]), os.path.dirname(str(args[0]))}:
        WRITTEN.append((event, args[0]))


sys.addaudithook(audit)


def pytest_unconfigure():
    print("PLUGIN", EARLY, "pytest_opcost.plugin" in sys.modules)
    print("HEAVY", sorted(HEAVY & set(sys.modules)))
    print("STARTED", STARTED)
    print("WRITTEN", WRITTEN)
    print("OURS", *sorted(name for name in sys.modules if name.startswith("pytest_opcost")))
"""

_COUNTING = """
import importlib.metadata

LOOKED, FIND = [], importlib.metadata.distributions


def counted(**context):
    LOOKED.append(1)
    return FIND(**context)


importlib.metadata.distributions = counted


def pytest_unconfigure():
    print("LOOKED", len(LOOKED))
"""

#: All that a run imports of the plugin where there is no opcost test, and where there is one.
_OURS = "OURS pytest_opcost pytest_opcost.plugin"
_MORE = "pytest_opcost.declared pytest_opcost.errors pytest_opcost.families pytest_opcost.options pytest_opcost.values"
#: How the spy is run: nothing of pytest itself writes a file, and what `-p` names comes before the entry points.
_COMMAND = (sys.executable, "-B", "-m", "pytest", "-p", "spy", "-p", "no:xdist", "-p", "no:cacheprovider")


def test_tests_with_the_fixture_are_skipped_with_the_reason(project: Project) -> None:
    result = project.run("-rs")

    result.assert_outcomes(skipped=1)
    assert _REASON in told(result)
    assert project.seam.calls == []
    assert "opcost: operator costs" not in result.stdout.str()


def test_tests_with_the_marker_alone_are_skipped(project: Project) -> None:
    project.write("test_model.py", "import pytest\n\n@pytest.mark.opcost\ndef test_it():\n    assert False\n")

    result = project.run("-rs")

    result.assert_outcomes(skipped=1)
    assert _REASON in told(result)


def test_tests_that_ask_for_the_fixture_late_are_skipped(project: Project) -> None:
    project.write("test_model.py", "def test_it(request):\n    request.getfixturevalue('opcost')\n    assert False\n")

    result = project.run("-rs")

    result.assert_outcomes(skipped=1)
    assert _REASON in told(result)


def test_other_tests_run_as_ever_and_no_file_is_written(project: Project) -> None:
    project.write("test_other.py", "def test_other():\n    pass\n")

    result = project.run()

    result.assert_outcomes(passed=1, skipped=1)
    assert not (project.path / "baselines").exists()


_NO_EFFECT = "opcost: no effect without --opcost: "


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (["--opcost-json=out.json"], "--opcost-json"),
        (["--opcost-html", "page", "--opcost-export=csv:out.csv"], "--opcost-html, --opcost-export"),
        (["--opcost-confirm=4", "-q", "-W", "error"], "--opcost-confirm"),
        (["--opcost-steps=3", "-qq", "--no-header"], "--opcost-steps"),
    ],
    ids=["json", "html and export", "confirm", "steps"],
)
def test_an_option_that_nothing_comes_of_is_told_in_a_line(project: Project, args: list[str], names: str) -> None:
    result = project.run(*args)

    assert result.ret == 0
    assert [line for line in result.outlines if _NO_EFFECT in line] == [_NO_EFFECT + names]
    assert {path.name for path in project.path.iterdir()}.isdisjoint({"out.json", "out.csv", "page"})


@pytest.mark.parametrize(
    "args",
    [
        ["--opcost", "--opcost-json=out.json"],
        ["--opcost-update-missing", "--opcost-json=out.json"],
        ["--opcost-prune-baselines", "--opcost-baselines=baselines"],
        ["--opcost-device=cpu", "--opcost-batch-size=1"],
    ],
    ids=" ".join,
)
def test_one_that_has_an_effect_is_not(project: Project, args: list[str]) -> None:
    project.write("test_size.py", "def test_size(opcost_batch_size):\n    pass\n")

    assert _NO_EFFECT not in project.run(*args).stdout.str()


def test_what_a_project_asks_of_every_run_that_measures_is_not_told(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--opcost-steps=3")
    project.write("pytest.ini", "[pytest]\naddopts = --opcost-json=out.json\nopcost_top = 3\n")

    result = project.run()

    assert result.ret == 0
    assert _NO_EFFECT not in result.stdout.str()


def test_workers_do_not_tell_it_again(project: Project) -> None:
    pytest.importorskip("xdist")

    result = project.pytester.run(sys.executable, "-m", "pytest", "-n1", "--opcost-top=3")

    assert result.stdout.str().count(_NO_EFFECT) == 1


def test_with_opcost_the_same_tests_run(project: Project) -> None:
    project.run("--opcost").assert_outcomes(passed=1)
    assert len(project.seam.calls) == 6


@pytest.mark.parametrize("args", [["--collect-only"], []], ids=" ".join)
def test_a_project_without_opcost_tests_pays_nothing_for_the_plugin(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, args: list[str]
) -> None:
    pytester.makepyfile(spy=_SPY, test_other="def test_other():\n    pass\n")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    result = pytester.run(*_COMMAND, "-p", "opcost", *args)

    assert result.ret == 0
    result.stdout.fnmatch_lines(["PLUGIN False True", "HEAVY [[]]", "STARTED [[]]", "WRITTEN [[]]"])
    assert _OURS in result.outlines


@pytest.mark.parametrize("args", [["--collect-only"], ["-rs"]], ids=" ".join)
def test_a_project_with_opcost_tests_pays_nothing_before_it_asks(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, args: list[str]
) -> None:
    pytester.makepyfile(spy=_SPY)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.opcost(tolerance=0.3)
        def test_model(opcost, opcost_device, opcost_batch_size, lenet_step):
            opcost.check(lenet_step)
        """
    )
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    result = pytester.run(*_COMMAND, "-p", "opcost", "-vv", *args)

    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["*test_model?cpu-1?*", "PLUGIN False True", "HEAVY [[]]", "STARTED [[]]", "WRITTEN [[]]"]
    )


def test_pytest_looks_through_what_is_installed_no_oftener_for_the_plugin(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(counting=_COUNTING, test_other="def test_other():\n    pass\n")
    command = (sys.executable, "-m", "pytest", "-p", "counting", "-p", "no:cacheprovider", "--collect-only")

    without, with_plugin = (pytester.run(*command, *off).outlines for off in (["-p", "no:opcost"], []))

    (looked,) = [line for line in without if line.startswith("LOOKED ")]
    assert looked in with_plugin


def test_the_spy_sees_what_it_looks_for(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(
        spy=_SPY,
        test_other="import subprocess\nimport sys\nfrom pathlib import Path\n\nimport yaml\n\n\ndef test_other():\n"
        "    Path('file').touch()\n    Path('file').write_text('')\n    subprocess.run([sys.executable, '-c', ''])\n",
    )
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    result = pytester.run(*_COMMAND, "-p", "opcost")

    result.stdout.fnmatch_lines(["HEAVY [[]'yaml'[]]", "STARTED [[]'subprocess.Popen'*", "WRITTEN [[](*file*"])


def test_bytecode_alone_is_written_where_python_may_write_it(project: Project) -> None:
    result = project.pytester.run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider")

    result.assert_outcomes(skipped=1)
    names = {path.name for path in project.path.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    # Of the run's output the last two are made by the one who looks at it.
    assert names == {"pytest.ini", "conftest.py", "test_model.py", "costs.json", "stdout", "stderr"}


def test_the_packages_errors_are_found_when_asked_for() -> None:
    import pytest_opcost

    assert {name for name in pytest_opcost.__all__ if not issubclass(getattr(pytest_opcost, name), Exception)} == set()
    with pytest.raises(AttributeError, match="has no attribute 'NoSuchError'"):
        _ = pytest_opcost.NoSuchError


def test_a_script_may_hand_paths_to_pytest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_x="def test_x():\n    pass\n")
    script = pytester.makepyfile(run="import pathlib, pytest\npytest.main([pathlib.Path('test_x.py')])\n")

    pytester.run(sys.executable, script).assert_outcomes(passed=1)
