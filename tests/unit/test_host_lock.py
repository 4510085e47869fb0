"""The lock between processes: one holder at a time, given back however that ends, and no file left."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.errors import TurnError
from pytest_opcost.host_lock import holder, try_lock, unlock
from pytest_opcost.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("fcntl")

_HOLDS = """
import os, sys, time
from pathlib import Path
from pytest_opcost.host_lock import try_lock

assert try_lock(Path(sys.argv[1])) is not None
if len(sys.argv) > 2 and not os.fork():
    print(os.getpid(), flush=True)
    time.sleep(600)
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "pytest-opcost-cpu.lock"


@pytest.fixture
def other(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, which holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", _HOLDS, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_one_process_holds_it(path: Path, other: subprocess.Popen[str]) -> None:
    assert try_lock(path) is None
    assert holder(path) == other.pid


def test_a_killed_holder_gives_it_back(path: Path, other: subprocess.Popen[str]) -> None:
    other.kill()
    other.wait()

    handle = try_lock(path)

    assert handle is not None
    assert holder(path) == os.getpid()
    unlock(path, handle)
    assert list(path.parent.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_what_a_killed_holder_forked_does_not_hold_on(path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", _HOLDS, str(path), "fork"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = sorted(process.stdout.readline().strip() for _ in range(2))
    process.kill()
    process.wait()

    handle = try_lock(path)

    os.kill(int(lines[0]), 9)
    process.stdout.close()
    assert handle is not None
    unlock(path, handle)


def test_a_file_that_was_removed_meanwhile_is_not_the_lock(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the opening and the locking its last holder gave it back, and somebody else took it anew."""
    from pytest_opcost import host_lock

    locked, opened = host_lock._locked, []

    def late(handle: int) -> bool:
        if not opened:
            path.unlink()
            path.touch()
        opened.append(handle)
        return locked(handle)

    monkeypatch.setattr(host_lock, "_locked", late)
    handle = try_lock(path)

    assert handle is not None
    assert len(opened) == 2
    assert os.path.samestat(os.fstat(handle), path.stat())
    unlock(path, handle)


def test_a_link_is_not_followed(path: Path) -> None:
    target = path.with_name("precious")
    target.write_text("text")
    path.symlink_to(target)

    with pytest.raises(OSError, match="symbolic"):
        try_lock(path)

    assert target.read_text() == "text"


def test_waiting_is_told_and_ends(path: Path, other: subprocess.Popen[str]) -> None:
    turns, seen = Turns(), []

    def waiting(process: int | None) -> None:
        seen.append(process)
        if len(seen) == 2:
            other.kill()

    with turns.on(["cpu"], waiting):
        assert holder(path) == os.getpid()

    assert seen[:2] == [other.pid, other.pid]
    assert turns.waited > 0
    assert list(path.parent.iterdir()) == []


def test_refusing_names_the_process_and_the_way_out(other: subprocess.Popen[str]) -> None:
    with pytest.raises(TurnError) as caught, Turns(wait=False).on(["cpu"]):
        pass

    assert f"process {other.pid} of this host measures on cpu" in str(caught.value)
    assert "--opcost-turns=wait" in str(caught.value)


def test_another_device_is_free(other: subprocess.Popen[str]) -> None:
    with Turns(wait=False).on(["cuda-1a2b", "cuda-3c4d"]):
        pass


def test_a_turn_within_a_turn(path: Path) -> None:
    turns = Turns()
    with turns.on(["cpu"]):
        with turns.on(["cpu"]):
            pass
        assert path.exists(), "the inner one gave it back"
    assert list(path.parent.iterdir()) == []


def test_no_folder_for_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))

    with (
        pytest.raises(TurnError, match=r"(?s)no file by which to take turns: No such file.*TMPDIR=DIR"),
        Turns().on("x"),
    ):
        pass


def test_who_waits_comes_before_who_has_just_measured(path: Path) -> None:
    """The head of the queue holds a second lock, which everybody needs first."""
    with Turns().on(["cpu"]):
        assert not path.with_suffix(".next").exists()
    ahead = subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(path.with_suffix(".next"))], stdout=subprocess.PIPE, text=True
    )
    assert ahead.stdout is not None
    ahead.stdout.readline()

    with pytest.raises(TurnError), Turns(wait=False).on(["cpu"]):
        pass

    ahead.kill()
    ahead.wait()
    ahead.stdout.close()
