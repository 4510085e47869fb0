"""How busy the rest of the machine was: what shares caches, memory and clock with us makes operators dearer."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


#: Waiting for a core costs far more than sharing caches with a busy neighbour: every resumed step starts cold.
WAITING_WEIGHT = 10.0


def watch_load() -> Callable[[float], float]:
    """Start watching; calling the result tells how much other work there was meanwhile, 0 on a quiet machine, less the
    seconds given there, of work that was no disturbance.

    1 means that all other cores were busy; more, that there was more work than cores, so that this thread had to wait:
    the share of the time that it waited, ten times, is added. Read from /proc/stat, whose counters cover the whole
    machine, and from the scheduler's account of this thread; 0 where there are none.
    """
    busy_before, own_before = _busy_seconds(), time.process_time()
    waited_before, wall_before = _waited_seconds(), time.perf_counter()

    def load(harmless: float) -> float:
        wall = time.perf_counter() - wall_before
        elsewhere = _busy_seconds() - busy_before - (time.process_time() - own_before) - harmless
        others = max((os.cpu_count() or 1) - 1, 1)
        waiting = (_waited_seconds() - waited_before) / wall
        return min(max(elsewhere / (wall * others), 0.0), 1.0) + WAITING_WEIGHT * waiting

    return load


def _waited_seconds() -> float:
    try:
        _ran, waited, _slices = Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 0.0
    return int(waited) / 1e9


def _busy_seconds() -> float:
    try:
        with Path("/proc/stat").open(encoding="ascii") as file:
            user, nice, system, _idle, _iowait, irq, softirq, steal, *_ = map(int, file.readline().split()[1:])
    except (OSError, ValueError):
        return 0.0
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
