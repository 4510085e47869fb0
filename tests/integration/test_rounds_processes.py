"""The processes of a round end with it, whatever becomes of them or of the run; what ends them early is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_opcost import RoundError
from pytest_opcost.rounds import process

from .rounds import DRIVER, alive, run_round

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .project import Project

#: A test that starts a process of its own, tells both ids, and waits for an end that does not come.
_STARTS_AND_WAITS = """
import os
import subprocess
import sys
import time

child = None


def start(seconds):
    global child  # or Python warns of it
    child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"])
    with open("pids.tmp", "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    os.rename("pids.tmp", "pids")


def test_bad(opcost, step, tmp_path):
    (tmp_path / "file").touch()
    start(600)
    opcost.check(step)
    END
"""
_TESTS = ["test_model.py::test_model", "test_bad.py::test_bad", "test_last.py::test_last"]
#: The tests below wait this long, in seconds, for what takes a few milliseconds on an idle machine.
_PATIENCE = 60.0


@pytest.fixture(autouse=True)
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files, which is empty again at the end."""
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    _until(lambda: not list(folder.iterdir()))


@pytest.fixture
def suite(suite: Project) -> Project:
    suite.checks("test_last", file="test_last.py")
    return suite


def _bad(suite: Project, end: str) -> None:
    """Let the second of three tests end in some way."""
    suite.write("test_bad.py", _STARTS_AND_WAITS.replace("END", end))


def _pids(suite: Project) -> list[int]:
    return [int(pid) for pid in (suite.path / "pids").read_text().split()]


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


def _all_gone(suite: Project) -> None:
    pids = _pids(suite)
    assert len(pids) == 2
    _until(lambda: not any(map(alive, pids)))


@pytest.mark.parametrize(
    ("end", "how"),
    [
        ("os.kill(os.getpid(), 11)", "the process was killed by SIGSEGV, in this test"),
        ("os.kill(os.getpid(), 9)", "the process was killed by SIGKILL, as the kernel does where memory runs out, in"),
        ("print('\\nmy last words'); os._exit(3)", "the process ended on its own, with exit status 3, in"),
    ],
)
def test_a_test_that_takes_the_process_down(suite: Project, end: str, how: str) -> None:
    _bad(suite, end)

    found = run_round(suite, tests=_TESTS)

    assert {test for test, _ in found.profiles} == set(_TESTS[:1])
    text = found.failures[_TESTS[1]]
    assert text.startswith(how)
    assert f"\nTry it by hand: cd {suite.path} && {sys.executable} -m pytest {_TESTS[1]} --opcost" in text
    assert found.failures[_TESTS[2]].startswith("was not run: the process ")
    if "11" in end:
        assert "Fatal Python error: Segmentation fault\n" in text
        assert "in test_bad\n" in text
    if "_exit" in end:
        assert "\n  my last words\n" in text
    _all_gone(suite)


def test_a_round_that_takes_too_long_is_stopped_with_all_that_it_started(
    suite: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _bad(suite, "time.sleep(600)")
    wait = process._line_in_time

    def wait_for_the_second_test(supervised: subprocess.Popen[bytes], seconds: float, *_: object) -> bytes | None:
        _until(lambda: (suite.path / "pids").exists())
        return wait(supervised, 0.01 if seconds == 20 else seconds)

    monkeypatch.setattr(process, "_line_in_time", wait_for_the_second_test)

    found = run_round(suite, tests=_TESTS, timeout=20)

    stopped = "the process took longer than 20 s and was stopped"
    assert {test for test, _ in found.profiles} == set(_TESTS[:1])
    assert found.failures[_TESTS[1]].startswith(f"{stopped}, in this test\n")
    assert found.failures[_TESTS[2]] == f"was not run: {stopped}, at {_TESTS[1]}"
    _all_gone(suite)


def test_a_round_that_takes_too_long_to_begin(suite: Project) -> None:
    with pytest.raises(RoundError, match=r"took longer than 0.01 s and was stopped\n"):
        run_round(suite, tests=_TESTS, timeout=0.01)


def test_what_a_test_leaves_running_ends_with_the_round(suite: Project) -> None:
    _bad(suite, "pass")

    found = run_round(suite, tests=_TESTS)

    assert found.failures == {}
    _all_gone(suite)


def test_whatever_interrupts_the_run_ends_the_round(suite: Project) -> None:
    """As pytest-timeout does it: an exception out of a signal's handler."""
    _bad(suite, "os.kill(int(open('run').read()), 10); time.sleep(600)")
    (suite.path / "run").write_text(str(os.getpid()))

    class Interrupted(BaseException):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(Interrupted):
            run_round(suite, tests=_TESTS)
    finally:
        signal.signal(signal.SIGUSR1, before)
    _all_gone(suite)


def _not_ignored(number: signal.Signals) -> None:
    """Whatever started these tests may ignore it, as nohup does, and what they start would do so too."""
    if number is not signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
@pytest.mark.parametrize("hold_the_gil", [False, True], ids=["", "deaf"])
def test_the_run_is_ended_by_a_signal(suite: Project, number: signal.Signals, hold_the_gil: bool) -> None:
    deaf = "import re; re.match('(a+)+b', 'a' * 200)"  # never lets go of the interpreter
    _bad(suite, deaf if hold_the_gil else "time.sleep(600)")
    suite.write("driver.py", DRIVER)
    command = [sys.executable, "-m", "pytest", "--opcost", "-p", "driver", *_TESTS]
    run = subprocess.Popen(
        command, cwd=suite.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        preexec_fn=lambda: _not_ignored(number),
    )  # fmt: skip
    try:
        _until(lambda: (suite.path / "pids").exists())
        os.killpg(run.pid, number)  # as a terminal sends it
        output, _ = run.communicate(timeout=_PATIENCE)
    finally:
        run.kill()
        run.wait()

    _all_gone(suite)
    if number is signal.SIGINT:
        assert "KeyboardInterrupt" in output
        assert run.returncode == pytest.ExitCode.INTERRUPTED
    else:
        assert run.returncode == -number


@pytest.mark.parametrize(
    ("python", "said"),
    [
        ("nowhere/python", "No such file or directory: '{folder}/nowhere/python'"),
        ("folder", "Permission denied: '{folder}/folder'"),
        ("text", "Permission denied: '{folder}/text'"),
    ],
)
def test_an_interpreter_that_cannot_be_started(suite: Project, python: str, said: str) -> None:
    suite.write("folder/file", "")
    suite.write("text", "")

    with pytest.raises(RoundError) as caught:
        run_round(suite, side=lambda head: head.in_tree("base", head.root, head.root, python=suite.path / python))

    first, second = str(caught.value).splitlines()
    assert first.startswith(f"no round on base: {suite.path / python} could not be started: ")
    assert first.endswith(said.format(folder=suite.path))
    assert second == "Expected: a Python interpreter that has pytest and torch."


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "#!/bin/sh\necho broken >&2\nexit 127\n",
            "ended on its own, with exit status 127\nThe end of what it printed:\n  broken\n",
        ),
        (
            f'#!/bin/sh\nexec {sys._base_executable} -I -S "$@"\n',
            "  No module named 'pytest' in this interpreter: install pytest",
        ),
    ],
    ids=["broken", "without pytest"],
)
def test_an_interpreter_that_cannot_run_pytest(suite: Project, script: str, said: str) -> None:
    python = suite.write("python", script)
    python.chmod(0o755)

    with pytest.raises(RoundError) as caught:
        run_round(suite, side=lambda head: head.in_tree("base", head.root, head.root, python=python))

    assert said in str(caught.value)


def test_a_test_may_fork_and_spawn(suite: Project) -> None:
    """Python warns of a fork where there are threads, and a spawned process imports what started its parent."""
    suite.write("test_model.py", """
import multiprocessing
import warnings


def work(number):
    import pytest_opcost

    return pytest_opcost.__file__


def test_model(opcost, step):
    import pytest_opcost

    warnings.simplefilter("error")
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.map(work, [1]) == [pytest_opcost.__file__]
    opcost.check(step)
""")  # fmt: skip

    assert run_round(suite, tests=_TESTS[:1]).failures == {}
