"""Runs that are stopped or killed: what they checked out is removed, by them or by the next run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.base.signals import stopping_like_ctrl_c
from pytest_opcost.base.worktree import checked_out

if TYPE_CHECKING:
    from .repository import Repository

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals as on POSIX")

_SCRIPT = """
import os, signal, sys, time
from pathlib import Path
from pytest_opcost.base.worktree import checked_out

# Whatever started the tests may ignore some of them, and so would its children.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
with checked_out(Path(sys.argv[1]), "HEAD~1") as base:
    print(base.path, flush=True)
    eval(sys.argv[2])
    time.sleep(60)
"""


def run(repository: Repository, then: str) -> subprocess.Popen[str]:
    """A process that checks the base out, prints where, does `then` and waits."""
    command = [sys.executable, "-c", _SCRIPT, str(repository.top), then]
    environment = os.environ | {"TMPDIR": tempfile.gettempdir()}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def killed(repository: Repository) -> Path:
    """The temporary folder of a run that was killed while it had the base checked out."""
    done = run(repository, "os.kill(os.getpid(), signal.SIGKILL)")
    done.communicate()
    assert done.returncode == -signal.SIGKILL
    (folder,) = os.scandir(tempfile.gettempdir())
    assert repository.worktrees() == 2
    return Path(folder.path)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_run_that_is_told_to_stop_removes_the_tree(repository: Repository, tmp_path: Path, name: str) -> None:
    before = repository.snapshot()
    done = run(repository, f"os.kill(os.getpid(), signal.{name})")
    printed, errors = done.communicate(timeout=60)
    assert str(tmp_path / "tmp") in printed
    assert "KeyboardInterrupt" in errors
    assert os.listdir(tmp_path / "tmp") == []
    assert repository.snapshot() == before


def test_a_run_that_ends_without_leaving_the_block_removes_the_tree(repository: Repository, tmp_path: Path) -> None:
    before = repository.snapshot()
    script = (
        "import sys; from pathlib import Path; from pytest_opcost.base.worktree import checked_out\n"
        "manager = checked_out(Path(sys.argv[1]), 'HEAD~1')\n"
        "sys.base = manager.__enter__(); sys.manager = manager\n"
        "print(sys.base.path)\n"
    )
    environment = os.environ | {"TMPDIR": tempfile.gettempdir()}
    command = [sys.executable, "-c", script, str(repository.top)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert str(tmp_path / "tmp") in done.stdout
    assert done.stderr == ""
    assert os.listdir(tmp_path / "tmp") == []
    assert repository.snapshot() == before


def test_the_next_run_removes_what_a_killed_one_left(repository: Repository, tmp_path: Path) -> None:
    before = repository.snapshot()
    killed(repository)
    with checked_out(repository.top, "HEAD~1") as base:
        assert os.listdir(tmp_path / "tmp") == [base.path.parent.name]
        assert repository.worktrees() == 2
    assert repository.snapshot() == before


def test_the_next_run_forgets_a_killed_ones_tree_that_is_gone(repository: Repository) -> None:
    before = repository.snapshot()
    shutil.rmtree(killed(repository))
    with checked_out(repository.top, "HEAD~1"):
        assert repository.worktrees() == 2
    assert repository.snapshot() == before


def test_the_next_run_removes_a_tree_that_was_never_finished(repository: Repository) -> None:
    before = repository.snapshot()
    killed(repository)
    (admin,) = (repository.top / ".git" / "worktrees").iterdir()
    (admin / "locked").write_text("initializing")  # as git does while it makes one
    with checked_out(repository.top, "HEAD~1"):
        assert repository.worktrees() == 2
    assert repository.snapshot() == before


def test_the_next_run_leaves_a_tree_that_is_in_use(repository: Repository) -> None:
    other = run(repository, "None")
    try:
        assert other.stdout is not None
        path = Path(other.stdout.readline().strip())
        with checked_out(repository.top, "HEAD~1"):
            assert repository.worktrees() == 3
        assert (path / "model.py").exists()
    finally:
        other.terminate()
        other.communicate()
    assert repository.worktrees() == 1


def test_the_users_own_worktrees_are_never_forgotten(repository: Repository, tmp_path: Path) -> None:
    repository.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "unmounted" / "mine"))
    (tmp_path / "unmounted").rename(tmp_path / "away")
    before = repository.snapshot()
    with checked_out(repository.top, "HEAD~1"):
        pass
    assert repository.snapshot() == before


def test_a_users_own_handler_stays() -> None:
    def own(number: int, frame: object) -> None: ...

    before = signal.signal(signal.SIGTERM, own)
    try:
        with stopping_like_ctrl_c():
            assert signal.getsignal(signal.SIGTERM) is own
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_default_comes_back() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with stopping_like_ctrl_c():
            assert callable(signal.getsignal(signal.SIGTERM))
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_forked_worker_dies_of_the_signal_as_ever() -> None:
    script = (
        "import os, signal; from pytest_opcost.base.signals import stopping_like_ctrl_c\n"
        "with stopping_like_ctrl_c():\n"
        "    if not os.fork():\n        os.kill(os.getpid(), signal.SIGTERM); os._exit(0)\n"
        "    print(os.WTERMSIG(os.wait()[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"{int(signal.SIGTERM)}\n"
