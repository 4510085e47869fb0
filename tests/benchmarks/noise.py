"""How far fresh processes differ, operator by operator, with each remedy on and off: python tests/benchmarks/noise.py

Processes run one after the other, the variants in turn, so that a slow hour of the machine falls on all alike. A cell
is the median over processes, in microseconds a step, and how far they differ: on the CPU the standard deviation of the
log, in %; on a GPU (--device=cuda), where the device's time counts, the range `max / min - 1`. Nothing is asserted:
targets, which are the default variant's, stand in the last column.

On a GPU all processes do the same in the same order, and so get the same memory: once, or four times at places that are
the same in all of them, as the two sides of a pair do. In the last variant each test begins at another place, as the
plugin's tests do, whose order may change.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TypeAlias

from busy import busy_cores
from fresh_process import DEFAULT, LOAD, ON_DEVICE, VARIANTS
from lab import held, load_line
from tabulate import tabulate

from pytest_opcost.costs import TOTAL, relative_range
from pytest_opcost.families import DEFAULT_RATIO

CHILD = Path(__file__).with_name("fresh_process.py")
LEAST_SHARE, LEAST_DEVICE_US = 0.02, 2.0
RATIO_TARGET, OPERATOR_TARGET, DEVICE_TARGET = 1.0, 3.0, 0.5

Figures: TypeAlias = "list[dict[str, float]]"  # of each process: what it measured, by name


def run_all(names: list[str], device: str, processes: int, steps: int | None) -> dict[str, dict[str, Figures]]:
    """What the processes printed, by subject and variant."""
    found: dict[str, dict[str, Figures]] = {}
    _held = held(device)
    for name in names * processes:
        command = [*(VARIANTS | ON_DEVICE)[name].command, sys.executable, str(CHILD), name, device, str(steps or "")]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        for subject, figures in json.loads(printed.splitlines()[-1]).items():
            found.setdefault(subject, {}).setdefault(name, []).append(figures)
    return found


def show(subject: str, processes: dict[str, Figures], device: str) -> None:
    """A row for each ratio, the total and each operator that matters; a column for each variant."""
    usual = processes.get(DEFAULT) or next(iter(processes.values()))
    medians = {name: statistics.median(samples(usual, name)) for name in usual[0]}
    least = LEAST_SHARE * medians[TOTAL] if device == "cpu" else LEAST_DEVICE_US
    heads = [name for name in medians if name in (LOAD, TOTAL) or name.startswith(DEFAULT_RATIO)]
    dearest = sorted(medians.keys() - heads, key=lambda name: -medians[name])
    rows = [
        (name, *(cell(name, samples(found, name), device) for found in processes.values()), target(name, device))
        for name in [*heads, *(name for name in dearest if medians[name] >= least)]
    ]
    print(f"\n{subject}")
    print(tabulate(rows, ["", *processes, "target"], disable_numparse=True))


def samples(processes: Figures, name: str) -> list[float]:
    """What each process found; one whose backend called the operator otherwise has none."""
    return [figures[name] for figures in processes if name in figures]


def cell(name: str, values: list[float], device: str) -> str:
    if name == LOAD or len(values) < 2 or not min(values) > 0:
        return f"{statistics.median(values):.4g}" if values else ""
    spread = statistics.stdev(map(math.log, values)) if device == "cpu" else relative_range(values)
    return f"{statistics.median(values):.4g} ({100 * spread:.2f} %)"


def target(name: str, device: str) -> str:
    """The total has one on a device only, whose clock is as steady for a sum as for its parts."""
    if name == LOAD or (name == TOTAL and device == "cpu"):
        return ""
    on_host = RATIO_TARGET if name.startswith(DEFAULT_RATIO) else OPERATOR_TARGET
    return f"{on_host if device == 'cpu' else DEVICE_TARGET:g} %"


def startable(name: str) -> bool:
    """Whether this machine has the command that starts the variant, and a container's rules let it."""
    try:
        return subprocess.run([*VARIANTS[name].command, "true"], stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description="How far fresh processes differ, with each remedy on and off.")
    parser.add_argument("-n", type=int, default=10, help="processes a variant (default: 10)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, ... (default: cpu)")
    parser.add_argument("--steps", type=int, help="measured steps a process (default: as many as the plugin takes)")
    parser.add_argument("--loaded", action="store_true", help="keep the other cores busy at random intervals")
    parser.add_argument("--only", action="append", choices=VARIANTS | ON_DEVICE, help="only this variant; repeatable")
    options = parser.parse_args()
    usual = [name for name in VARIANTS if startable(name)] if options.device == "cpu" else [*ON_DEVICE]
    print(f"{options.n} processes a variant; before: {load_line()}")
    with busy_cores() if options.loaded else nullcontext():
        found = run_all(options.only or usual, options.device, options.n, options.steps)
    for subject, processes in found.items():
        show(subject, processes, options.device)
    print(f"Cells: median over processes (how far they differ). After: {load_line()}")


if __name__ == "__main__":
    main()
