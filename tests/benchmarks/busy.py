"""Other work on the machine, now and then: what a neighbour does to a measurement."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST_S, LONGEST_S = 0.05, 0.5
SEED = 1


@contextmanager
def busy_cores() -> Iterator[None]:
    """Keep every core but the first busy at random intervals, by a process each, until the body ends."""
    cores = sorted(os.sched_getaffinity(0))[1:]
    # Scripts of their own: multiprocessing would import torch anew in each.
    processes = [subprocess.Popen([sys.executable, __file__, str(core), str(os.getpid())]) for core in cores]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def sort_now_and_then(core: int, parent: int) -> None:
    """Sort and sleep in turns; ends with its parent, even one that was killed."""
    os.sched_setaffinity(0, {core})
    draw = random.Random(SEED + core)
    while os.getppid() == parent:
        end = time.perf_counter() + draw.uniform(SHORTEST_S, LONGEST_S)
        while time.perf_counter() < end:
            sorted(draw.random() for _ in range(5_000))
        time.sleep(draw.uniform(SHORTEST_S, LONGEST_S))


if __name__ == "__main__":
    sort_now_and_then(int(sys.argv[1]), int(sys.argv[2]))
