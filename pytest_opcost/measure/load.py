"""How busy the rest of the machine was: what shares caches, memory and clock with us makes operators dearer."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def watch_load() -> Callable[[], float]:
    """Start watching; calling the result gives the share of the other cores that was busy with other work, 0 to 1.

    Read from /proc/stat, whose counters cover the whole machine; 0 where there is none.
    """
    busy_before, own_before, wall_before = _busy_seconds(), time.process_time(), time.perf_counter()

    def load() -> float:
        wall = time.perf_counter() - wall_before
        elsewhere = _busy_seconds() - busy_before - (time.process_time() - own_before)
        others = max((os.cpu_count() or 1) - 1, 1)
        return min(max(elsewhere / (wall * others), 0.0), 1.0)

    return load


def _busy_seconds() -> float:
    try:
        with Path("/proc/stat").open(encoding="ascii") as file:
            user, nice, system, _idle, _iowait, irq, softirq, steal, *_ = map(int, file.readline().split()[1:])
    except (OSError, ValueError):
        return 0.0
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
