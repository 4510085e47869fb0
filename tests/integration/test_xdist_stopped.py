"""However a run with workers is stopped, no fresh process of theirs goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("xdist")
pytest.importorskip("fcntl")

from .rounds import alive

if TYPE_CHECKING:
    from .project import Project

#: In a round, a test that tells its process and does not end until it is told to.
_ENDLESS = """
import os
import pathlib
import time

from pytest_opcost import plugin


def test_endless(opcost, step, request):
    if request.config.stash[plugin.OPTIONS].only_measure:
        with open("round.tmp", "w") as file:
            file.write(f"{os.getpid()} {os.getppid()}")
        os.rename("round.tmp", "round")
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline and not pathlib.Path("end").exists():
            time.sleep(0.01)
    opcost.check(step)
"""
#: Seconds for what takes a few on an idle machine; pytest-xdist itself takes up to 15 to end a busy worker.
_PATIENCE = 60.0


@pytest.fixture
def suite(suite: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    (tmp_path / "temp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temp"))
    suite.write("test_model.py", _ENDLESS)
    return suite


def _until(condition: object) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)


def _start(suite: Project, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pytest", "-n", "2", "--opcost", *args]
    return subprocess.Popen(command, cwd=suite.path, stdout=subprocess.PIPE, text=True, start_new_session=True)


def _check_all_gone(suite: Project, run: subprocess.Popen[str], *, files: bool = True) -> str:
    out, _ = run.communicate(timeout=_PATIENCE)
    for pid in map(int, (suite.path / "round").read_text().split()):
        _until(lambda pid=pid: not alive(pid))
    if files:
        _until(lambda: not list(Path(os.environ["TMPDIR"]).glob("*opcost*")))
    return out


@pytest.mark.parametrize("everybody", [True, False], ids=["Ctrl-C", "the controller alone"])
def test_an_interrupt(suite: Project, everybody: bool) -> None:
    run = _start(suite)
    _until((suite.path / "round").exists)

    if everybody:  # as a terminal does
        os.killpg(run.pid, signal.SIGINT)
    else:
        os.kill(run.pid, signal.SIGINT)

    assert "KeyboardInterrupt" in _check_all_gone(suite, run)
    assert suite.files() == {}


def test_after_the_first_failure_the_test_in_flight_ends(suite: Project) -> None:
    """pytest-xdist lets a worker end what it runs, and so its rounds."""
    suite.write(
        "test_fails.py",
        "import pathlib, time\n\n\ndef test_fails():\n"
        "    while not pathlib.Path('round').exists():\n        time.sleep(0.01)\n"
        "    pathlib.Path('failed').touch()\n    assert False\n",
    )

    run = _start(suite, "--maxfail=1", "--opcost-rounds=1")
    _until((suite.path / "failed").exists)
    time.sleep(1)  # for the failure to reach the controller, and its word to reach the worker
    (suite.path / "end").touch()

    assert "1 failed, 1 passed" in _check_all_gone(suite, run)


def test_a_killed_controller(suite: Project) -> None:
    run = _start(suite)
    _until((suite.path / "round").exists)

    run.kill()

    # A worker that execnet has to kill in its turn, after 15 seconds, cannot tidy up its files.
    _check_all_gone(suite, run, files=False)
