"""Which regressions of the catalogue are caught, and named rightly: python tests/benchmarks/caught.py [--device=cuda]

Each one's "before" is recorded as a baseline, through the file format, and its "after" measured and judged against it
as the plugin does. Columns: whether it fails; the operator and the cause that are told first, with a `!` where that is
not what the catalogue calls right; what the step costs more, from the quietest rounds; and of how many causes the first
is one. Harmless refactorings stand below: they must pass. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

# What cuBLAS asks for in deterministic mode, before its first call.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
from lab import load_line
from regressions.catalogue import HARMLESS, REGRESSIONS
from tabulate import tabulate

from pytest_opcost import rendering, storage
from pytest_opcost.baselines import Baseline, new_baseline
from pytest_opcost.judge import Again, Cause, Rules, Verdict, causes, confirmed, judge
from pytest_opcost.measure import Plan, measure
from pytest_opcost.merging import with_facts_of

if TYPE_CHECKING:
    from regressions.case import Case

    from pytest_opcost.costs import CostProfile

#: A regression that costs less is none that the project promises to catch, unless it is exact.
WORTH = 0.04
RATIO = "conv/addmm"


@dataclass(frozen=True)
class Told:
    """What was said of one case."""

    case: Case
    verdict: Verdict
    causes: tuple[Cause, ...]
    cost: float

    @property
    def caught(self) -> bool:
        return bool(self.verdict.failing)

    @property
    def first(self) -> Cause | None:
        return self.causes[0] if self.causes else None

    @property
    def op_right(self) -> bool:
        return self.first is not None and self.case.names(self.first.op)

    @property
    def cause_right(self) -> bool:
        return self.first is not None and self.first.kind in self.case.kinds


def told(case: Case, device: str, rounds: int, steps: int) -> Told:
    """Record, measure, judge. The rounds of both sides take turns, so that a slow spell does not look like a cost."""
    steps_of = case.before(torch.device(device)), case.after(torch.device(device))
    sides: tuple[list[CostProfile], list[CostProfile]] = ([], [])
    for number in range(rounds):
        # What is exact is read twice, as the plugin does; in further rounds only times are taken.
        plan = Plan(device, steps=steps, exact=number < 2)
        for side, settings in enumerate((case.settings_before, case.settings_after)):
            with settings():
                made = measure(steps_of[side], plan)
            sides[side].append(made if plan.exact else with_facts_of(sides[side][0], made))
    before, after = sides
    baseline = stored(new_baseline(Path("x.yaml"), "test", None, before, [RATIO]))
    rules, rest = Rules({RATIO: 0.10}), iter(after[2:])
    again = Again(lambda: after[1], lambda: next(rest), rounds - 2)
    profile, verdict = confirmed(after[0], lambda measured: judge(baseline.reference, measured, rules), again)
    cost = min(one.total_us for one in after) / min(one.total_us for one in before) - 1
    return Told(case, verdict, causes(baseline.profile, profile, verdict.findings), cost)


def stored(baseline: Baseline) -> Baseline:
    """What a later run reads of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "baseline.yaml"
        storage.write(path, rendering.render(baseline, top=10))
        return storage.load(path)


def row(one: Told) -> tuple[str, ...]:
    first = one.first
    op = "" if first is None else first.op.removeprefix("aten::") + ("" if one.op_right else " !")
    kind = "" if first is None else first.kind + ("" if one.cause_right else " !")
    caught = "caught" if one.caught else "not caught"
    return one.case.name, caught, op, kind, f"{100 * one.cost:+.1f} %", str(len(one.causes))


def summary(regressions: list[Told], harmless: list[Told]) -> str:
    worth = [one for one in regressions if one.cost > WORTH]
    caught = [one for one in regressions if one.caught]
    return (
        f"caught {sum(one.caught for one in worth)} of {len(worth)} that cost more than {100 * WORTH:.0f} %, "
        f"{len(caught)} of all {len(regressions)}; operator right in {sum(one.op_right for one in regressions)}, "
        f"cause right in {sum(one.cause_right for one in regressions)}, "
        f"both in {sum(one.op_right and one.cause_right for one in regressions)} of {len(regressions)}; "
        f"harmless passed {sum(not one.caught for one in harmless)} of {len(harmless)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Which regressions of the catalogue are caught, and named rightly.")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, ... (default: cpu)")
    parser.add_argument("--rounds", type=int, default=6, help="measurements of each side (default: 6)")
    parser.add_argument("--steps", type=int, default=30, help="measured steps a round (default: 30)")
    parser.add_argument("--only", action="append", help="only this one; repeatable")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each cause in full")
    options = parser.parse_args()
    kind = options.device.partition(":")[0]
    print(load_line())
    found: list[list[Told]] = []
    for cases in (REGRESSIONS, HARMLESS):
        chosen = [case for case in cases if kind in case.devices and case.name in (options.only or [case.name])]
        results = []
        for case in chosen:
            try:
                results.append(told(case, options.device, options.rounds, options.steps))
            except ImportError as missing:
                print(f"{case.name} left out: {missing}")
        found.append(results)
        print(tabulate(map(row, found[-1]), ["", "", "operator", "cause", "step", "causes"], disable_numparse=True))
        print()
        if options.verbose:
            for one in found[-1]:
                print(one.case.name, *(f"  {cause.message}" for cause in one.causes), sep="\n")
    others = [case.name for case in REGRESSIONS if kind not in case.devices]
    print(f"not on this device: {', '.join(others)}")
    print(summary(*found))
    print(load_line())


if __name__ == "__main__":
    main()
