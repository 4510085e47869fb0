"""What reading a profile costs an event, here and by torch's `key_averages()`: python tests/benchmarks/aggregation.py

Nothing is asserted: the figures stand beside their targets, and mean something on a quiet machine only. Here Python's
collector is off, as it is in a measurement; torch is timed with it on, as users call it, and with it off.
"""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import torch
from tabulate import tabulate
from torch.profiler import ProfilerActivity, profile

from pytest_opcost.measure.aggregate import aggregate
from pytest_opcost.measure.events import read_events, step_mark
from pytest_opcost.workloads.models import LeNet5, build
from pytest_opcost.workloads.steps import training_step

if TYPE_CHECKING:
    from collections.abc import Callable

TARGET_US, TARGET_RATIO = 1.5, 30
GROWTH = (10_000, 100_000, 1_000_000)
REPEATS = 5


def profiled(steps: int) -> Any:
    """torch's own profiler after some training steps of LeNet-5, about 560 events each."""
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for _ in range(steps):
            with step_mark():
                step()
    return profiler


def seconds(work: Callable[[], Any], collector: bool = False) -> tuple[float, Any]:
    """How long it takes, with Python's collector on or off; and what it returns."""
    gc.collect()
    if not collector:
        gc.disable()
    try:
        start = time.perf_counter()
        result = work()
        return time.perf_counter() - start, result
    finally:
        gc.enable()


def ours(profiler: Any) -> tuple[int, float, float, float]:
    """Events, and the microseconds that each takes to fetch from torch, to read, to aggregate."""
    fetching, raw_events = seconds(profiler.profiler.kineto_results.events)
    reading, events = seconds(lambda: read_events(raw_events, host_only=True))
    aggregating, _ = seconds(lambda: aggregate(events))
    count = len(raw_events)
    return count, *(1e6 * took / count for took in (fetching, reading, aggregating))


def theirs(profiler: Any, count: int, collector: bool) -> tuple[float, float]:
    """The microseconds that each event of the same profile takes in events(), which parses it, and key_averages()."""
    parsing, _ = seconds(profiler.events, collector)
    averaging, _ = seconds(profiler.key_averages, collector)
    return 1e6 * parsing / count, 1e6 * averaging / count


def bytes_an_event(profiler: Any) -> tuple[float, float]:
    """The most that reading and aggregating hold at once, and what stays of it, in bytes of Python's and numpy's."""
    raw_events = profiler.profiler.kineto_results.events()
    gc.collect()
    tracemalloc.start()
    events = read_events(raw_events, host_only=True)
    costs = aggregate(events)
    _, peak = tracemalloc.get_traced_memory()
    del events
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(costs.names)
    return peak / len(raw_events), kept / len(raw_events)


def compare(steps: int) -> None:
    print("Microseconds an event, both on the same profile, medians; the collector is torch's:")
    table = []
    for collector in (True, False):
        rows = []
        for _ in range(REPEATS):
            profiler = profiled(steps)
            count, *parts = ours(profiler)
            peer = theirs(profiler, count, collector)
            rows.append((count, *parts, sum(parts), *peer, sum(peer) / sum(parts)))
        table.append(("on" if collector else "off", *(statistics.median(column) for column in zip(*rows))))
    headers = ("collector", "events", "fetch", "read", "aggregate", "all", "events()", "key_averages()", "times faster")
    print(tabulate(table, headers, floatfmt=".2f"))
    print(f"Targets: all at most {TARGET_US}; at least {TARGET_RATIO} times faster than users have it (collector on)\n")


def grow() -> None:
    count = len(profiled(20).profiler.kineto_results.events()) / 20
    rows = []
    for size in GROWTH:
        profiler = profiled(round(size / count))
        rows.append((*ours(profiler), *bytes_an_event(profiler)))
    headers = ("events", "fetch us", "read us", "aggregate us", "peak bytes", "bytes kept")
    print("Growth, an event:")
    print(tabulate(rows, headers, floatfmt=".2f", intfmt=","))


if __name__ == "__main__":
    torch.set_num_threads(1)
    step = training_step(build(LeNet5, "cpu"), torch.randn(4, 3, 32, 32), torch.arange(4))
    profiled(5)
    compare(100)
    grow()
