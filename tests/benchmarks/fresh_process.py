"""One of the processes that noise.py starts: prepares itself as its variant says, measures, and prints JSON."""

from __future__ import annotations

import json
import math
import os
import platform
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from lab import lab_step, profiled

from pytest_opcost.costs import TOTAL, WAITING, CostProfile, ratio_forms, totals
from pytest_opcost.families import DEFAULT_RATIO
from pytest_opcost.measure.allocator import keep_memory, quiet_allocator
from pytest_opcost.measure.devices import find_device
from pytest_opcost.measure.environment import capture_environment
from pytest_opcost.measure.load import watch_load
from pytest_opcost.measure.rows import op_rows, step_wall_us

if TYPE_CHECKING:
    from collections.abc import Callable

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


def figures(kind: str, batch: int, device: str, steps: int) -> dict[str, float]:
    """The ratios, the load, the total and each operator's cost in microseconds, on the clock that counts."""
    step = lab_step("LeNet", kind, batch, device)
    load = watch_load()
    costs, warm = profiled(step, device, steps)
    busy_elsewhere = load()
    ops = op_rows(costs, warm, {})
    environment = capture_environment(find_device(device).torch_device, torch.get_num_threads(), "")
    profile = CostProfile(environment, steps, ops, step_wall_us(costs, warm), *totals(ops))
    ratios = {form: profile.ratio(form) or math.nan for form in ratio_forms(profile, [DEFAULT_RATIO])}
    rows = {op.name: profile.cost_us(op) for op in ops if op.family not in WAITING}
    return {LOAD: busy_elsewhere, **ratios, TOTAL: profile.total_us, **rows}


def main(name: str, device: str, steps: int) -> None:
    variant = VARIANTS[name]
    if variant.pinned:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(variant.threads)
    variant.allocator()
    pairs = [("train", 16)] if device == "cpu" else [(kind, n) for kind in ("train", "infer") for n in (1, 16, 64)]
    print(json.dumps({f"LeNet, {kind}, batch {batch}": figures(kind, batch, device, steps) for kind, batch in pairs}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
