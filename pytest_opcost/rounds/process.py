"""Starting the process of a round, waiting for it, and making sure that it is gone."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_opcost.errors import RoundError
from pytest_opcost.rounds import bootstrap, supervisor
from pytest_opcost.rounds.gate import LOOK_EVERY, gate_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_opcost.rounds.side import Side

#: What belongs to this very process: its test, its xdist worker, its coverage.
_NOT_INHERITED = ("PYTEST_CURRENT_TEST", "PYTEST_XDIST_", "COV_CORE_", "COVERAGE_PROCESS_")
#: With two threads a pass took 780 instead of 22 ms in each of two such processes on two cores (measured, AMD EPYC).
_ONE_THREAD = {"OMP_NUM_THREADS": "1"}
#: How long the supervisor may take to kill what there is, in seconds.
_GRACE = 5.0
#: Seconds between two looks at a process that measures: seldom enough not to disturb it.
_LOOK_EVERY = 0.1


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its exit status, negative for a signal, None where it was stopped after `timeout` seconds or
    has sent home all there is and is exiting; and what it printed."""

    returncode: int | None
    output: bytes
    timeout: float


class Process:
    """The process of one round, from its start to its end; the request lies in a folder that is the round's alone.

    Use it in a `with` statement: whatever is raised meanwhile, and even if this process is killed, what it started is
    killed too. One that is `gated`, as its request says, stops before its first test until `open_gate`, and is waited
    for until its tests are over: it exits while others begin. One that measures in turns gets its `connection` to the
    other one, a file descriptor, and has one thread for its user's code too, unless the environment says otherwise:
    threads of both would wait for each other's cores.
    """

    def __init__(self, side: Side, request: Path, *, gated: bool, connection: int | None = None) -> None:
        self._side, self._request = side, request
        self._gate = gate_of(request.parent) if gated else None
        command = [str(side.python), *_interpreter_flags(), bootstrap.__file__, str(request)]
        self._supervised = subprocess.Popen(
            [sys.executable, "-I", "-S", supervisor.__file__, str(request.parent), str(side.directory), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=({} if connection is None else _ONE_THREAD) | _environment(os.environ, side.directory),
            start_new_session=True,  # Ctrl-C reaches this process alone, which then decides
            pass_fds=() if connection is None else (connection,),
        )

    def __enter__(self) -> Process:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error in (None, GeneratorExit) and self._over():
            _line_in_time(self._supervised, _GRACE)  # it is exiting, and may have something to put away
        _end(self._supervised)

    def wait_at_gate(self, timeout: float) -> None:
        """Wait until it stands at its gate, has ended, or `timeout` seconds are over."""
        assert self._gate is not None
        deadline = time.monotonic() + timeout
        while not self._gate.waiting.exists() and time.monotonic() < deadline:
            if _speaks(self._supervised, LOOK_EVERY):
                return

    def open_gate(self) -> None:
        """Let it run its tests."""
        assert self._gate is not None
        self._gate.opened.touch()

    def wait(self, timeout: float, watch: Callable[[], None] | None = None, *, leaves: bool = False) -> Ended:
        """Wait for its end, or that of its tests if it is gated, or for `timeout` seconds, then kill it. `watch` is
        called ten times a second. Where it `leaves`, it is also waited for to exit, though not forever.

        Raises RoundError where the interpreter could not be started.
        """
        assert self._supervised.stdin is not None
        line = _line_in_time(self._supervised, timeout, watch, self._gate and self._gate.over)
        if line is None and not self._over():
            self._supervised.stdin.write(b"k")
            self._supervised.stdin.flush()
            _line_in_time(self._supervised, _GRACE)
        elif line is None and leaves:
            _line_in_time(self._supervised, _GRACE)
        returncode = None if line is None else _returncode(self._side, line)
        return Ended(returncode, self._request.with_name("output.txt").read_bytes(), timeout)

    def _over(self) -> bool:
        return self._gate is not None and self._gate.over.exists()


def _returncode(side: Side, line: bytes) -> int:
    told: dict[str, Any] = json.loads(line) if line else {"problem": "the process that watches over it is gone"}
    if "problem" in told:
        raise RoundError(
            f"no round on {side.name}: {side.python} could not be started: {told['problem']}\n"
            "Expected: a Python interpreter that has pytest and torch."
        )
    returncode: int = told["returncode"]
    return returncode


def _line_in_time(
    supervised: subprocess.Popen[bytes],
    timeout: float,
    watch: Callable[[], None] | None = None,
    over: Path | None = None,
) -> bytes | None:
    """What the supervisor says at its end, or None where it says nothing in time, or before the file `over` is there.

    Sleeps, if there is nothing to look at.
    """
    assert supervised.stdout is not None
    deadline = time.monotonic() + timeout
    while (left := deadline - time.monotonic()) > 0:
        if _speaks(supervised, left if watch is None and over is None else min(left, _LOOK_EVERY)):
            return supervised.stdout.readline()
        if watch is not None:
            watch()
        if over is not None and over.exists():
            break
    return None


def _speaks(supervised: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether the supervisor says something, as it does at its end, within so many seconds."""
    assert supervised.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(supervised.stdout, selectors.EVENT_READ)
        return bool(selector.select(seconds))


def _end(supervised: subprocess.Popen[bytes]) -> None:
    """Let go of the supervisor, which then kills what it started, unless that has ended."""
    assert supervised.stdin is not None
    assert supervised.stdout is not None
    supervised.stdin.close()
    supervised.stdout.close()
    try:
        supervised.wait(_GRACE)
    except subprocess.TimeoutExpired:
        supervised.kill()
        supervised.wait()


def _environment(own: Mapping[str, str], directory: Path) -> dict[str, str]:
    environment = {name: value for name, value in own.items() if not name.startswith(_NOT_INHERITED)}
    return environment | {"PWD": str(directory)}


def _interpreter_flags() -> list[str]:
    """How this interpreter itself was started, as far as it bears on what runs."""
    options = [f"-X{name}" if value is True else f"-X{name}={value}" for name, value in sys._xoptions.items()]
    return ["-u", *["-O"] * sys.flags.optimize, *(f"-W{option}" for option in sys.warnoptions), *options]
