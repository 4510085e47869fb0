"""Processes that print what they find once they are told to begin, alone or two at a time."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Any


def started(command: Sequence[str], *connections: int) -> subprocess.Popen[str]:
    """A Python process of this script and its arguments, which has these connections too."""
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, *command], stdin=pipe, stdout=pipe, text=True, pass_fds=connections)


def found_by(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What it prints last, as JSON, now that its turn has come."""
    printed, _ = process.communicate("\n")
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found


def found_by_pair(command: Sequence[str]) -> list[dict[str, Any]]:
    """What two processes find that measure in turns: each is told its end of a connection, and one that it begins."""
    ends = socket.socketpair()
    processes = [
        started([*command, "--connection", str(end.fileno()), *begins], end.fileno())
        for end, begins in zip(ends, (["--begins"], []))
    ]
    for process, end in zip(processes, ends):
        end.close()
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [found_by(process) for process in processes]
