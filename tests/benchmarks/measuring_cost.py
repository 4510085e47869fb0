"""What measuring costs a test, beside the plain running of its steps: python tests/benchmarks/measuring_cost.py

Seconds of `measure`, exact passes and reading included, against those of the same steps run without it, one after the
other. One-time costs (imports, oneDNN's or cuDNN's first choices, the profiler's start) are in the first measurement of
the process and in the first of each workload, which stand apart. Nothing is asserted; the figures mean something on a
quiet machine only, the verdicts are of medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING

import torch
from lab import WARMUP, WORKLOADS, lab_step, load_line
from tabulate import tabulate

from pytest_opcost.measure import Plan, measure
from pytest_opcost.measure.allocator import quiet_allocator
from pytest_opcost.measure.devices import find_device

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES_PLAIN, PLUS_SECONDS = 2.5, 0.3
HEADERS = ("network", "step", "batch", "steps", "plain s", "first s", "measure s", "times plain", "target s", "met")


def measured(step: Callable[[], object], device: str) -> tuple[float, int]:
    """Seconds of one measurement, and how many steps it took besides those of the exact passes."""
    start = time.perf_counter()
    profile = measure(step, Plan(device))
    return time.perf_counter() - start, 1 + WARMUP + profile.steps


def plain(step: Callable[[], object], device: str, steps: int) -> float:
    """Seconds of as many steps without us, each waited for, as in a measurement."""
    synchronize = find_device(device).synchronize
    start = time.perf_counter()
    for _ in range(steps):
        step()
        synchronize()
    return time.perf_counter() - start


def compare(network: str, kind: str, batch: int, device: str, repeats: int) -> tuple[object, ...]:
    """One workload's row: medians over pairs of a measurement and a plain run."""
    step = lab_step(network, kind, batch, device)
    first, _ = measured(step, device)
    pairs = []
    for _ in range(repeats):
        took, steps = measured(step, device)
        pairs.append((took, plain(step, device, steps), steps))
    took, without, steps = (statistics.median(column) for column in zip(*pairs))
    target = TIMES_PLAIN * without + PLUS_SECONDS
    met = "yes" if took <= target else f"NO, +{took - target:.2f} s"
    return network, kind, batch, round(steps), without, first, took, took / without, target, met


def main() -> None:
    parser = argparse.ArgumentParser(description="What measuring costs a test.")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, ... (default: cpu)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="pairs a workload (default: 3)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    quiet_allocator()  # both runs with the same memory: the plain one would pay for page faults that the other has not
    print(f"Before: {load_line()}")
    first, _ = measured(lab_step("LeNet", "train", 16, arguments.device), arguments.device)
    rows = [compare(*workload, arguments.device, arguments.repeats) for workload in WORKLOADS]
    print(tabulate(rows, HEADERS, floatfmt=".2f"))
    print(f"Target: at most {TIMES_PLAIN} x plain + {PLUS_SECONDS} s. First measurement of the process: {first:.2f} s")
    print(f"After: {load_line()}")


if __name__ == "__main__":
    main()
