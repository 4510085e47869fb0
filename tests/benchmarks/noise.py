"""How far fresh processes differ, operator by operator, with each remedy on and off: python tests/benchmarks/noise.py

Processes run one after the other, the variants in turn, so that a slow hour of the machine falls on all alike. A cell
is the median over processes, in microseconds a step, and how far they differ: on the CPU the standard deviation of the
log, in %; on a GPU (--device=cuda), where the device's time counts, the range `max / min - 1`. Nothing is asserted:
targets, which are the default variant's, stand in the last column.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from busy import busy_cores
from lab import lab_step, load_line, profiled
from tabulate import tabulate

from pytest_opcost.costs import TOTAL, WAITING, CostProfile, ratio_forms, relative_range, totals
from pytest_opcost.families import DEFAULT_RATIO
from pytest_opcost.measure.allocator import keep_memory, quiet_allocator
from pytest_opcost.measure.devices import find_device
from pytest_opcost.measure.environment import capture_environment
from pytest_opcost.measure.exact import ExactFacts
from pytest_opcost.measure.load import watch_load
from pytest_opcost.measure.rows import op_rows, step_wall_us

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST_SHARE, LEAST_DEVICE_US = 0.02, 2.0
RATIO_TARGET, OPERATOR_TARGET, DEVICE_TARGET = 1.0, 3.0, 0.5
LOAD = "load, 1 = all other cores"


@dataclass(frozen=True)
class Variant:
    """What a process does before it builds its model, and what it is started by."""

    allocator: Callable[[], object] = quiet_allocator
    threads: int = 1
    pinned: bool = False
    command: tuple[str, ...] = ()


DEFAULT = "quiet"
VARIANTS = {
    "system": Variant(allocator=lambda: None),
    "keep": Variant(allocator=keep_memory),
    DEFAULT: Variant(),
    "quiet, pinned": Variant(pinned=True),
    "quiet, 2 threads": Variant(threads=2),
    "quiet, fixed addresses": Variant(command=("setarch", platform.machine(), "-R")),
}


def run_child(variant: Variant, device: str, steps: int) -> None:
    """Measure every subject and print its figures as JSON."""
    if variant.pinned:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(variant.threads)
    variant.allocator()
    pairs = [("train", 16)] if device == "cpu" else [(kind, n) for kind in ("train", "infer") for n in (1, 16, 64)]
    print(json.dumps({f"LeNet, {kind}, batch {batch}": figures(kind, batch, device, steps) for kind, batch in pairs}))


def figures(kind: str, batch: int, device: str, steps: int) -> dict[str, float]:
    """The ratios, the load, the total and each operator's cost in microseconds, on the clock that counts."""
    step = lab_step("LeNet", kind, batch, device)
    load = watch_load()
    costs, warm = profiled(step, device, steps)
    busy_elsewhere = load()
    ops = op_rows(costs, warm, ExactFacts())
    environment = capture_environment(find_device(device).torch_device, torch.get_num_threads(), "")
    profile = CostProfile(environment, steps, ops, step_wall_us(costs, warm), *totals(ops))
    ratios = {form: profile.ratio(form) or math.nan for form in ratio_forms(profile, [DEFAULT_RATIO])}
    rows = {op.name: profile.cost_us(op) for op in ops if op.family not in WAITING}
    return {LOAD: busy_elsewhere, **ratios, TOTAL: profile.total_us, **rows}


def run_all(arguments: argparse.Namespace, names: list[str]) -> dict[str, dict[str, list[dict[str, float]]]]:
    """What each process printed, by subject and variant."""
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for name in names * arguments.n:
        command = [*VARIANTS[name].command, sys.executable, __file__, f"--child={name}"]
        command += [f"--device={arguments.device}", f"--steps={arguments.steps}"]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        for subject, its_figures in json.loads(printed.splitlines()[-1]).items():
            found.setdefault(subject, {}).setdefault(name, []).append(its_figures)
    return found


def show(subject: str, processes: dict[str, list[dict[str, float]]], device: str) -> None:
    """A row for each ratio, the total and each operator that matters; a column for each variant."""
    usual = processes.get(DEFAULT) or next(iter(processes.values()))
    medians = {name: statistics.median(one[name] for one in usual) for name in usual[0] if name in usual[-1]}
    least = LEAST_SHARE * medians[TOTAL] if device == "cpu" else LEAST_DEVICE_US
    rows = []
    for name, median in medians.items():
        is_operator = name not in (LOAD, TOTAL) and "/" not in name
        if is_operator and median < least:
            continue
        target = OPERATOR_TARGET if is_operator else RATIO_TARGET if "/" in name else None
        if device != "cpu" and name != LOAD:
            target = DEVICE_TARGET
        cells = [_cell([one[name] for one in found if name in one], name, device) for found in processes.values()]
        rows.append([name, *cells, "" if target is None else f"{target:g} %"])
    rows.sort(key=lambda row: -medians[row[0]] if "::" in row[0] else -math.inf)
    print(f"\n{subject}")
    print(tabulate(rows, ["", *processes, "target"], disable_numparse=True))


def _cell(values: list[float], name: str, device: str) -> str:
    median = statistics.median(values)
    if name == LOAD:
        return f"{median:.2f}"
    spread = relative_range(values) if device != "cpu" else statistics.stdev(map(math.log, values))
    return f"{median:.4g} ({100 * spread:.2f} %)"


def main() -> None:
    parser = argparse.ArgumentParser(description="How far fresh processes differ, with each remedy on and off.")
    parser.add_argument("-n", type=int, default=10, help="processes a variant (default: 10)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, ... (default: cpu)")
    parser.add_argument("--steps", type=int, default=30, help="measured steps a process (default: 30)")
    parser.add_argument("--loaded", action="store_true", help="keep the other cores busy at random intervals")
    parser.add_argument("--only", action="append", choices=VARIANTS, help="only this variant; repeatable")
    parser.add_argument("--child", choices=VARIANTS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        run_child(VARIANTS[arguments.child], arguments.device, arguments.steps)
        return
    # Remedies for the host do nothing for a device's clock.
    names = arguments.only or ([*VARIANTS] if arguments.device == "cpu" else [DEFAULT])
    print(f"{arguments.n} processes a variant; before: {load_line()}")
    with busy_cores() if arguments.loaded else nullcontext():
        found = run_all(arguments, names)
    for subject, processes in found.items():
        show(subject, processes, arguments.device)
    print(f"Cells: median over processes (how far they differ). After: {load_line()}")


if __name__ == "__main__":
    main()
