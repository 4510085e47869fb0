"""Stands between a run and the process of a round: whatever becomes of the run, nothing of the round outlives it.

Run as a script, with the standard library alone: `supervisor.py FOLDER DIRECTORY COMMAND...`. Starts the command in a
session of its own, its output in FOLDER/output.txt, and prints how it ended, as JSON. The run holds the other end of
standard input. A byte from there kills everything that the command started; when it closes, as it does even if the run
is killed, FOLDER is removed too.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

#: How long we wait for killed processes to be gone, in seconds; nothing but the kernel can hold them up.
MOST_SECONDS = 2.0

#: Held by whoever ends this process: the command that ended, or the run that is gone.
_ENDING = threading.Lock()


def main(folder: str, directory: str, *command: str) -> dict[str, object]:
    """Run the command to its end; how it ended."""
    with open(os.path.join(folder, "output.txt"), "wb") as output:
        try:
            # A watcher in that process itself would be a thread, of which Python warns a test that forks.
            process = subprocess.Popen(
                command,
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                close_fds=False,  # a connection with another round, which the run handed us
            )
        except OSError as error:
            return {"problem": str(error)}
    threading.Thread(target=_watch, args=(process, folder), daemon=True).start()
    returncode = process.wait()
    _ENDING.acquire()
    _kill(process.pid)  # what it left running
    return {"returncode": returncode}


def _watch(process: subprocess.Popen[bytes], folder: str) -> None:
    while os.read(0, 1):
        _kill(process.pid)
    _ENDING.acquire()
    _kill(process.pid)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _kill(group: int) -> None:
    """Kill a process group and wait until it is gone."""
    deadline = time.monotonic() + MOST_SECONDS
    try:
        while time.monotonic() < deadline:
            os.killpg(group, signal.SIGKILL)
            time.sleep(0.005)
    except (ProcessLookupError, PermissionError):  # the latter, on macOS, where only zombies are left
        pass


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])), flush=True)
    os._exit(0)  # the watcher is still reading
