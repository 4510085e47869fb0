"""In a round the user's configuration holds as in the run that asks for it, but for what selects, stops and reports."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_opcost import RoundError, plugin, rounds

from .rounds import DRIVER, run_round

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_opcost.rounds import Round, Side

    from .project import Project

_REPORTING = """
import json
import os
import sys

import pytest


def pytest_addoption(parser):
    parser.addoption("--weights", default="none")
    parser.addini("layers", "how many", default="0")


@pytest.fixture(autouse=True)
def tell(request):
    config = request.config
    told = {
        "weights": config.option.weights, "layers": config.getini("layers"), "root": str(config.rootpath),
        "ini": str(config.inipath), "directory": str(config.invocation_params.dir), "cwd": os.getcwd(),
        "importmode": config.option.importmode, "path": sys.path, "argv": sys.argv, "environ": dict(os.environ),
        "worker": hasattr(config, "workerinput"), "temp": str(request.getfixturevalue("tmp_path")),
        "flags": [*sys.warnoptions, sys.flags.optimize], "stdin": sys.__stdin__.read(),
    }
    with open(os.path.join(os.path.dirname(__file__), "told.json"), "w") as file:
        json.dump(told, file)
"""


@pytest.fixture
def suite(suite: Project) -> Project:
    """A project that writes down how pytest is configured."""
    suite.write("conftest.py", (suite.path / "conftest.py").read_text() + _REPORTING)
    return suite


def told(suite: Project) -> dict:
    """How the last process was configured that ran a test."""
    return json.loads((suite.path / "told.json").read_text())


def measured(suite: Project, *args: str, **more: object) -> dict:
    """The configuration of a round, which must have measured the project's one test."""
    found = run_round(suite, *args, tests=["test_model.py::test_model"], **more)
    assert found.failures == {}
    assert found.profiles.keys() == {("test_model.py::test_model", None)}
    return told(suite)


@pytest.mark.parametrize("args", [["--weights=w"], ["--weights", "w"], ["--weights=w", "--", "test_model.py"]])
def test_options_of_the_users_conftest(suite: Project, args: list[str]) -> None:
    assert measured(suite, *args)["weights"] == "w"


def test_options_from_the_environment(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--weights='a b'")
    assert measured(suite)["weights"] == "a b"


def test_ini_values_and_overrides(suite: Project) -> None:
    suite.write("pytest.ini", "[pytest]\nlayers = 3\naddopts = --weights=ini --strict-config --strict-markers\n")
    assert measured(suite)["weights"] == "ini"
    assert told(suite)["layers"] == "3"
    assert measured(suite, "-o", "layers=5")["layers"] == "5"


def test_another_ini_file_another_root_and_another_mode_of_import(suite: Project) -> None:
    suite.write("other/other.ini", "[pytest]\nlayers = 7\n")
    suite.pytester.syspathinsert()  # nothing else puts the project there

    found = measured(suite, "-c", "other/other.ini", "--rootdir=.", "--confcutdir=.", "--import-mode=importlib")

    assert (found["layers"], found["importmode"]) == ("7", "importlib")
    assert (found["root"], found["ini"]) == (str(suite.path), str(suite.path / "other/other.ini"))


def test_called_in_another_folder(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = suite.path / "sub" / "folder"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)

    found = measured(suite, "../..")

    assert found["directory"] == found["cwd"] == found["environ"]["PWD"] == str(folder)
    assert found["root"] == str(suite.path)


def test_plugins_and_warnings(suite: Project) -> None:
    suite.write(
        "mine.py",
        "import warnings\n\nimport pytest\n\n\n@pytest.fixture(autouse=True)\ndef warns():\n"
        "    with pytest.raises(UserWarning):\n        warnings.warn('no')\n    warnings.warn('new', FutureWarning)\n",
    )
    suite.pytester.syspathinsert()
    measured(suite, "-p", "mine", "-W", "ignore::FutureWarning")


def test_a_strict_configuration_in_which_every_warning_is_an_error(suite: Project) -> None:
    measured(suite, "--strict-config", "--strict-markers", "-W", "error")


def test_the_runs_measuring_options_hold(suite: Project) -> None:
    suite.write(
        "test_model.py",
        "def test_model(opcost, step, opcost_device, opcost_batch_size):\n    opcost.check(step)\n",
    )
    pytest.importorskip("torch")

    found = run_round(
        suite, "--opcost-device=cuda", "--opcost-batch-size=3", "--opcost-threads=2", "--opcost-allocator=system"
    )

    assert found.failures == {}
    (((test, _), profile),) = found.profiles.items()
    assert test == "test_model.py::test_model[cuda-3]"
    assert (profile.environment.device, profile.environment.threads, profile.environment.allocator) == (
        "cuda", 2, "system",
    )  # fmt: skip


def test_the_device_option_of_somebody_else(suite: Project) -> None:
    suite.write(
        "conftest.py",
        (suite.path / "conftest.py")
        .read_text()
        .replace('parser.addoption("--weights"', 'parser.addoption("--device")\n    parser.addoption("--weights"'),
    )
    (profile,) = run_round(suite, "--device=phone", "--opcost-device=cuda").profiles.values()
    assert profile.environment.device == "cuda"


@pytest.mark.parametrize(
    "args",
    [
        ["-k", "other"],
        ["-m", "slow"],
        ["--deselect=test_model.py::test_model"],
        ["--sw"],
        ["--ff", "--nf"],
        ["--collect-only"],
        ["--setup-plan"],
        ["--setup-only"],
        ["--pdb", "--trace"],
        ["--pyargs"],
        ["--cache-clear"],
        ["-p", "no:cacheprovider"],
        ["-p", "no:terminal"],
        ["-p", "no:warnings"],
        ["-s", "-vv"],
        ["test_other.py"],
        ["test_other.py::test_other"],
        ["no_such_folder"],
    ],
    ids=" ".join,
)
def test_what_selects_tests_does_not_hold(suite: Project, args: list[str]) -> None:
    suite.write("test_other.py", "def test_other():\n    pass\n")
    suite.ini("markers = slow: slow")
    measured(suite, *args)


@pytest.mark.parametrize("more", [[], ["--cache-clear"], ["--sw"]], ids=["", "cache-clear", "sw"])
def test_the_users_files_are_left_alone(suite: Project, more: list[str]) -> None:
    """A session that has written its files runs a round after it: nothing is written again, and nothing new."""
    suite.write("test_model.py", (suite.path / "test_model.py").read_text() + "\n\ndef test_bad():\n    assert False\n")
    suite.ini("log_file = log.txt", "log_file_level = INFO")
    options = ["--junitxml=junit.xml", "--basetemp=temp", "--debug=debug.txt", "--lf", "--nf", *more]
    suite.pytester.runpytest_inprocess("--opcost", *options)
    config = suite.pytester.parseconfigure(*options)
    config.trace.root.setwriter(None)  # else what this process imports from now on is told in debug.txt
    suite.write(".pytest_cache/v/mine", "{}")
    before = _stamps(suite)
    assert {path.name for path in before} >= {"junit.xml", "log.txt", "debug.txt", "mine"}
    _stamp_again(before)

    tests = ["test_model.py::test_model", "test_model.py::test_bad"]
    found = round_of(config, tests)

    assert (found.profiles.keys(), found.failures.keys()) == ({(tests[0], None)}, {tests[1]})
    temp = Path(told(suite)["temp"])
    assert not temp.is_relative_to(suite.path)
    assert not temp.exists()
    assert _stamps(suite) == dict.fromkeys(before, _STAMP)


def round_of(config: pytest.Config, tests: Sequence[str] = ("test_model.py::test_model",)) -> Round:
    """A round of a run that is configured and has not begun."""
    start = rounds.Start(rounds.head_side(config), tests, exact=True)
    (found,) = rounds.run_together([start], plugin.options_of(config), timeout=60)
    return found


_STAMP = 1_000_000_000


def _stamps(suite: Project) -> dict[Path, int]:
    """When each file was last written that a session of pytest writes."""
    files = (path for path in suite.path.rglob("*") if path.is_file())
    return {path: path.stat().st_mtime_ns for path in files if not {*path.parts} & {"told.json", "__pycache__"}}


def _stamp_again(paths: Iterable[Path]) -> None:
    for path in paths:
        os.utime(path, ns=(_STAMP, _STAMP))


@pytest.mark.parametrize(
    "args", [["-n", "2"], ["-n", "auto", "--dist=loadgroup"], ["--tx=2*popen", "-d"]], ids=" ".join
)
def test_a_round_has_no_workers(suite: Project, args: list[str]) -> None:
    pytest.importorskip("xdist")
    suite.write("test_model.py", "def test_model(opcost, step, worker_id):\n    opcost.check(step, name=worker_id)\n")

    found = round_of(suite.pytester.parseconfigure(*args))

    assert found.failures == {}
    assert found.profiles.keys() == {("test_model.py::test_model", "master")}


def test_a_plugin_that_runs_tests_again_is_left_out(suite: Project) -> None:
    suite.write(
        "rerunfailures.py",
        "def pytest_configure(config):\n    config.addinivalue_line('markers', 'flaky(reruns): again')\n\n\n"
        "def pytest_runtest_setup(item):\n    raise ValueError('again')\n",
    )
    suite.pytester.syspathinsert()
    suite.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.flaky(reruns=2)\ndef test_model(opcost, step):\n    opcost.check(step)\n",
    )
    measured(suite, "-p", "rerunfailures")


def test_what_belongs_to_the_runs_own_process_is_not_inherited(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_TESTRUNUID", "COV_CORE_SOURCE", "COVERAGE_PROCESS_START"):
        monkeypatch.setenv(name, "mine")
    monkeypatch.setenv("MY_OWN", "kept")

    environ = measured(suite)["environ"]

    assert environ["MY_OWN"] == "kept"
    assert "mine" not in environ.values()
    assert environ["PYTEST_CURRENT_TEST"].startswith("test_model.py::test_model ")


def test_standard_input_is_empty(suite: Project) -> None:
    assert measured(suite, "-s")["stdin"] == ""


def driven(suite: Project, *command: str) -> dict:
    """The configuration of a round of a run that is started by this command."""
    suite.write("driver.py", DRIVER)
    suite.pytester.run(*command)
    profiles, failures, _ = json.loads((suite.path / "found.json").read_text())
    assert failures == {}
    assert profiles == [["test_model.py::test_model", None]]
    return told(suite)


def test_python_m_pytest(suite: Project) -> None:
    suite.write("pytest.ini", "[pytest]\n")  # pytest warns of -O
    found = driven(
        suite, sys.executable, "-O", "-W", "error::FutureWarning", "-m", "pytest", "--opcost", "-p", "driver"
    )
    assert found["path"][0] == str(suite.path)
    assert found["path"].count(str(suite.path)) == 1
    assert str(Path(rounds.__file__).parent) not in found["path"]
    assert found["flags"] == ["error::FutureWarning", 1]
    assert found["argv"][0] == "pytest"


def test_the_plugin_loaded_by_its_module(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    driven(suite, sys.executable, "-m", "pytest", "--opcost", "-p", "pytest_opcost.plugin", "-p", "driver")


def test_a_script_that_calls_pytest(suite: Project) -> None:
    suite.write("tools/names.py", "NAME = 'w'\n")
    suite.write(
        "tools/run.py",
        "import sys\nfrom pathlib import Path\n\nimport pytest\n\n"
        "sys.exit(pytest.main(['--opcost', '-p', 'driver', '--weights', 'w', Path('test_model.py')]))\n",
    )
    suite.write("driver.py", DRIVER)
    suite.write("tools/driver.py", "import names\n" + DRIVER)
    (suite.path / "driver.py").unlink()

    suite.pytester.run(sys.executable, "tools/run.py")

    assert json.loads((suite.path / "found.json").read_text())[:2] == [[["test_model.py::test_model", None]], {}]
    assert str(suite.path / "tools") in told(suite)["path"][:2]


def test_a_worker_of_xdist(suite: Project) -> None:
    pytest.importorskip("xdist")
    suite.write("xdist_driver.py", """
import json
import os

import pytest


@pytest.fixture(autouse=True)
def driven(request):
    yield
    from pytest_opcost import plugin, rounds

    config = request.config
    if config.stash[plugin.OPTIONS].only_measure:
        return
    start = rounds.Start(rounds.head_side(config), [request.node.nodeid], exact=True)
    (found,) = rounds.run_together([start], config.stash[plugin.OPTIONS], timeout=60)
    with open(f"found-{os.environ['PYTEST_XDIST_WORKER']}.json", "w") as file:
        json.dump([[test for test, _ in found.profiles], found.failures], file)
""")  # fmt: skip
    suite.checks("test_one", "test_two", "test_three")

    suite.pytester.run(
        sys.executable, "-m", "pytest", "--opcost", "-n", "2", "-p", "xdist_driver", "--dist=load"
    ).assert_outcomes(passed=4)

    found = [json.loads(path.read_text()) for path in suite.path.glob("found-gw*.json")]
    assert len(found) == 2
    for profiles, failures in found:
        assert failures == {}
        assert len(profiles) == 1
    assert told(suite)["worker"] is False


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("conftest.py", "ValueError: not there"),
        ("options", "unrecognized arguments: --weights=w"),
        ("sessionstart", "ValueError: not there"),
    ],
)
def test_a_round_that_cannot_run_is_an_error_with_what_it_said(
    suite: Project, monkeypatch: pytest.MonkeyPatch, where: str, said: str
) -> None:
    text = (suite.path / "conftest.py").read_text()
    first, rest = text.split("def pytest_addoption(parser):\n")
    ways = {
        "conftest.py": f"{text}\n\nif 'THERE' in os.environ:\n    raise ValueError('not there')\n",
        "options": f"{first}def pytest_addoption(parser):\n    if 'THERE' in os.environ:\n        return\n{rest}",
        "sessionstart": f"{text}\n\ndef pytest_sessionstart():\n    if 'THERE' in os.environ:\n"
        "        raise ValueError('not there')\n",
    }
    suite.write("conftest.py", ways[where])

    def there(head: Side) -> Side:
        monkeypatch.setenv("THERE", "1")  # which the run itself has read already
        return head

    with pytest.raises(RoundError) as caught:
        run_round(suite, "--weights=w", tests=["test_model.py::test_model"], side=there)

    message = str(caught.value)
    assert said in message
    assert message.startswith(f"no round on head: pytest, run by {sys.executable} in {suite.path}, ")
    assert message.endswith(f"cd {suite.path} && {sys.executable} -m pytest test_model.py::test_model --opcost")
