"""One of the processes that noise.py starts: prepares itself as its variant says, measures, and prints JSON."""

from __future__ import annotations

import json
import math
import os
import platform
import sys
from dataclasses import dataclass
from functools import partial

from lab import lab_step, repeated

from pytest_opcost.costs import TOTAL, ratio_forms
from pytest_opcost.families import DEFAULT_RATIO
from pytest_opcost.measure import Plan, fresh_memory, measure
from pytest_opcost.measure.allocator import keep_memory

LOAD = "load, 1 = all other cores"


@dataclass(frozen=True)
class Variant:
    """How a process measures, what it does before it builds its model, and what it is started by."""

    quiet: bool = True
    keep: bool = False
    threads: int = 1
    pinned: bool = False
    placed: bool = False
    repeated: bool = False
    patience: float = Plan("cpu").patience
    command: tuple[str, ...] = ()


DEFAULT = "quiet"
VARIANTS = {
    "system": Variant(quiet=False),
    "keep": Variant(quiet=False, keep=True),
    DEFAULT: Variant(),
    "quiet, no waiting": Variant(patience=0.0),
    "quiet, pinned": Variant(pinned=True),
    "quiet, 2 threads": Variant(threads=2),
    "quiet, fixed addresses": Variant(command=("setarch", platform.machine(), "-R")),
}
#: Remedies for the host do nothing for a device's clock.
ON_DEVICE = {
    DEFAULT: Variant(),
    "as a pair's sides": Variant(repeated=True),
    "elsewhere each time": Variant(placed=True),
}


def figures(kind: str, batch: int, device: str, steps: int | None, variant: Variant) -> dict[str, float]:
    """The ratios, the load, the total and each operator's cost in microseconds, on the clock that counts."""
    _kept = fresh_memory(device) if variant.placed else None
    new_step = partial(lab_step, "LeNet", kind, batch, device)
    plan = Plan(
        device, steps=steps, threads=variant.threads, quiet=variant.quiet, exact=False, patience=variant.patience
    )
    profile = repeated(f"{kind} {batch}", new_step, plan) if variant.repeated else measure(new_step(), plan)
    ratios = {form: profile.ratio(form) or math.nan for form in ratio_forms(profile, [DEFAULT_RATIO])}
    rows = {op.name: profile.cost_us(op) for op in profile.ops if not op.waits}
    return {LOAD: profile.load, **ratios, TOTAL: profile.total_us, **rows}


def main(name: str, device: str, steps: int | None) -> None:
    variant = (VARIANTS | ON_DEVICE)[name]
    if variant.pinned:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if variant.keep:
        keep_memory()
    on_host = device == "cpu"
    pairs = [("train", 16)] if on_host else [(kind, n) for kind in ("train", "infer") for n in (1, 16, 64)]
    found = {f"LeNet, {kind}, batch {batch}": figures(kind, batch, device, steps, variant) for kind, batch in pairs}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if sys.argv[3] else None)
