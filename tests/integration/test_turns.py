"""Measurements take turns on their device, among workers of pytest-xdist and among runs; other tests go on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.turns import Turns

from .project import failure, told

pytest.importorskip("fcntl")

if TYPE_CHECKING:
    from .project import Project

#: Steps that wait for what another process does, and tell where two are measured at the same time.
_STEPS = """
import os
import pathlib
import time

import pytest

HERE = pathlib.Path(__file__).parent


def until(*names):
    deadline = time.monotonic() + 60
    while not all((HERE / name).exists() for name in names):
        assert time.monotonic() < deadline, f"{names} did not come"
        time.sleep(0.01)


@pytest.fixture
def alone(step):
    def run():
        (HERE / "measuring").touch(exist_ok=False)
        time.sleep(0.1)
        until(*AWAITED)
        (HERE / "measuring").unlink()
        return step()

    return run


AWAITED = ()
"""
_MEASURES = "def test_{0}(opcost, alone):\n    (steps.HERE / '{0}').touch()\n    {1}\n    opcost.check(alone)\n\n\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, and so for turns, that no other run knows."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def suite(suite: Project) -> Project:
    suite.write("steps.py", _STEPS)
    (suite.path / "test_model.py").unlink()
    return suite


def _tests(suite: Project, *tests: str, awaited: str) -> None:
    header = f"import steps\nfrom steps import alone\n\nsteps.AWAITED = {awaited}\n\n\n"
    for number, test in enumerate(tests):
        suite.write(f"test_{number}.py", header + test)


def _workers(suite: Project, *args: str, count: int = 2) -> pytest.RunResult:
    pytest.importorskip("xdist")
    words = ("-n", str(count), "--dist=load", "--opcost", "--opcost-rounds=0", *args)
    return suite.pytester.run(sys.executable, "-m", "pytest", *words)


def test_workers_measure_one_after_the_other(suite: Project) -> None:
    """Each step goes on only when all three tests are about to measure, or have."""
    tests = [_MEASURES.format(name, "steps.until('one', 'two', 'three')") for name in ("one", "two", "three")]
    _tests(suite, *tests, awaited="()")

    result = _workers(suite, count=3)

    result.assert_outcomes(passed=3)
    assert "took turns" not in told(result), "it was not worth a line"


def test_other_tests_go_on_while_one_measures(suite: Project) -> None:
    other = "def test_other():\n    steps.until('measuring')\n    (steps.HERE / 'other').touch()\n"
    _tests(suite, _MEASURES.format("one", ""), other.replace("alone", ""), awaited="('other',)")

    _workers(suite).assert_outcomes(passed=2)


def test_the_waiting_is_told_at_the_end(suite: Project) -> None:
    tests = [_MEASURES.format(name, "steps.until('one', 'two')") + "time.sleep(0)" for name in ("one", "two")]
    _tests(suite, *(f"import time\n{test}" for test in tests), awaited="()")
    suite.write("steps.py", _STEPS.replace("time.sleep(0.1)", "time.sleep(1.5)"))

    assert "measurements took turns on their device, and waited 2 s in all for them" in told(_workers(suite))


def test_a_worker_that_dies_while_it_measures_does_not_keep_the_turn(suite: Project) -> None:
    dies = _MEASURES.format("dies", "").replace("check(alone)", "check(lambda: os.kill(os.getpid(), 9))")
    first = "def test_first(opcost, step):\n    opcost.check(step)\n\n\n"
    _tests(suite, f"import os\n{first}{dies}", _MEASURES.format("two", "steps.until('dies')"), awaited="()")

    result = _workers(suite, "--opcost-json=out.json")

    result.assert_outcomes(passed=2, failed=1)
    assert "ERROR: test_0.py::test_dies: its worker crashed, so it was not judged" in told(result)
    names = [test["test"] for test in json.loads((suite.path / "out.json").read_text())["tests"]]
    assert sorted(names) == ["test_0.py::test_first", "test_1.py::test_two"]
    assert len(suite.files()) == 2


def test_a_worker_that_dies_leaves_no_files(suite: Project, own_folder: Path) -> None:
    dies = _MEASURES.format("dies", "").replace("check(alone)", "check(lambda: os.kill(os.getpid(), 9))")
    _tests(suite, f"import os\n{dies}", awaited="()")

    _workers(suite, count=1).assert_outcomes(failed=1)

    assert list(own_folder.glob("pytest-opcost-*")) == []


def test_several_workers_are_refused_where_nobody_may_wait(suite: Project) -> None:
    _tests(suite, _MEASURES.format("one", ""), awaited="()")

    result = _workers(suite, "--opcost-turns=refuse", count=2)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = " ".join(result.stderr.str().split())
    assert "2 workers of pytest-xdist would measure on cpu at the same time" in text
    assert "pytest --opcost -n 0" in text
    _workers(suite, "--opcost-turns=refuse", count=1).assert_outcomes(passed=1)


def test_another_run_that_measures_is_refused_or_waited_for(suite: Project, own_folder: Path) -> None:
    suite.checks("test_one")
    command = (sys.executable, "-m", "pytest", "--opcost", "--opcost-rounds=0")

    with Turns().on(["cpu"]):
        result = suite.pytester.run(*command, "--opcost-turns=refuse")
        assert f"not measured: process {os.getpid()} of this host measures on cpu" in failure(result)
        waiting = subprocess.Popen(command, cwd=suite.path, stdout=subprocess.PIPE, text=True)
        while not list(own_folder.glob("*.next")):
            time.sleep(0.01)
    out, _ = waiting.communicate()

    assert "1 recorded" in out
    assert list(own_folder.glob("pytest-opcost-*")) == []


def test_the_rounds_of_a_check_have_the_turn_and_do_not_ask_for_it(suite: Project, own_folder: Path) -> None:
    """They run in processes of their own, which would wait for the run that waits for them."""
    suite.write(
        "test_one.py",
        "import os, pathlib, tempfile\n\n\ndef test_one(opcost, step):\n"
        "    def run():\n"
        "        held = pathlib.Path(tempfile.gettempdir(), 'pytest-opcost-cpu.lock').read_text()\n"
        "        with open('held', 'a') as file:\n"
        "            file.write(f'{held} {os.getpid()}\\n')\n"
        "        return step()\n\n"
        "    opcost.check(run)\n",
    )

    result = suite.pytester.run(sys.executable, "-m", "pytest", "--opcost", "--opcost-rounds=1")

    result.assert_outcomes(passed=1)
    (run, itself), (holder, its_round) = (line.split() for line in (suite.path / "held").read_text().splitlines())
    assert run == itself == holder != its_round
