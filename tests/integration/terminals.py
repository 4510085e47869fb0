"""Running pytest of a user's project on a terminal of 80 columns."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from .project import Project


#: Seconds for what takes a few on an idle machine.
_PATIENCE = 120.0


def on_a_terminal(
    project: Project, *options: str, status: int = 0, meanwhile: Callable[[str], None] = lambda text: None
) -> str:
    """What pytest writes to a terminal; `meanwhile` is called with all that it has written so far."""
    pty, fcntl, termios = (pytest.importorskip(name) for name in ("pty", "fcntl", "termios"))
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, b"\x18\x00\x50\x00\x00\x00\x00\x00")  # 24 rows of 80
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(command, cwd=project.path, stdin=its, stdout=its, stderr=its, env=environment)
    os.close(its)
    written, deadline = b"", time.monotonic() + _PATIENCE
    while True:
        if not select.select([ours], [], [], max(deadline - time.monotonic(), 0))[0]:
            process.kill()
            process.wait()
            pytest.fail(f"it did not end in time, and wrote {written!r}")
        try:
            part = os.read(ours, 4096)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        written += part
        meanwhile(written.decode(errors="replace"))
    os.close(ours)
    assert process.wait() == status, written.decode()
    return written.decode()
