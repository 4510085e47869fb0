"""How others judge the same step: python tests/benchmarks/peers.py [--busy] [--device=cuda]
(needs pytest-benchmark and pytest-torch)

Fresh processes run a small suite one after the other. In each, pytest-benchmark, pytest-torch and this plugin measure
the same inference step of LeNet, waited for on a GPU: as it is, and slowed, with the second convolution run once more
for some of the images. Every clean process is then compared with every other as its baseline, and every slowed one with
every clean one, by each tool's own rule:

- pytest-benchmark `--benchmark-compare-fail=mean:5%` and `min:5%`: the statistic rose by more than 5 %
- pytest-torch `perf_baseline`: the median rose by more than 25 % and 0.05 ms, its default tolerance
- this plugin: the judge, with baselines of five processes and up to twelve others that confirm

All in one session of one machine, so that what another hour does to it is in none of the figures. With --busy all cores
but the first have other work at random. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from busy import busy_cores
from lab import load_line
from tabulate import tabulate
from verdicts import run

from pytest_opcost.families import family_of
from pytest_opcost.judge import Reference
from pytest_opcost.judge.reference import FEWEST_ROUNDS
from pytest_opcost.merging import merged
from pytest_opcost.plain import profile_from

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile

BATCH, ROUNDS, RUNS = 16, 5, 200
FEWEST = ROUNDS + 1 + FEWEST_ROUNDS
#: Images of the batch for which the second convolution runs again.
EXTRA = (0, 1, 2, 4)

SUITE = """
import json
import torch
from pathlib import Path
from pytest_opcost.measure import Plan, measure
from pytest_opcost.plain import profile_data
from pytest_opcost.workloads.models import LeNet, build

EXTRA = {extra}
DEVICE = torch.device("{device}")
torch.set_num_threads(1)
torch.manual_seed(0)
model, images = build(LeNet, DEVICE).eval(), torch.randn({batch}, 1, 28, 28, device=DEVICE)
if EXTRA:
    model.conv2.register_forward_hook(lambda layer, taken, made: layer.forward(taken[0][:EXTRA]) is None or made)


def step():
    with torch.no_grad():
        model(images)
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def test_pytest_benchmark(benchmark):
    benchmark(step)


def test_pytest_torch(perf_baseline):
    perf_baseline(step)


def test_this_plugin():
    Path("profile.json").write_text(json.dumps(profile_data(measure(step, Plan("{device}", exact=False)))))
"""


@dataclass(frozen=True)
class Measured:
    """What one process found: milliseconds, and a profile."""

    mean: float
    least: float
    median: float
    profile: CostProfile


def measured(extra: int, device: str) -> Measured:
    """One fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_step.py").write_text(SUITE.format(extra=extra, batch=BATCH, device=device))
        options = ["--benchmark-json=benchmark.json", "--torch-update-perf", "--torch-perf-file=perf.json"]
        options += [f"--torch-device={device}"]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir=."]
        subprocess.run([*command, *options, "test_step.py"], cwd=folder, check=True, capture_output=True)
        stats = json.loads(Path(folder, "benchmark.json").read_text())["benchmarks"][0]["stats"]
        (entry,) = json.loads(Path(folder, "perf.json").read_text())["entries"].values()
        profile = profile_from(json.loads(Path(folder, "profile.json").read_text()))
    return Measured(1000 * stats["mean"], 1000 * stats["min"], entry["latency_ms"], profile)


RULES: dict[str, Callable[[Measured, Measured], bool]] = {
    "pytest-benchmark mean:5%": lambda old, new: new.mean > 1.05 * old.mean,
    "pytest-benchmark min:5%": lambda old, new: new.least > 1.05 * old.least,
    "pytest-torch, default": lambda old, new: new.median > 1.25 * old.median + 0.05,
}


def convolutions(processes: list[Measured]) -> float:
    """Microseconds of all convolutions, the least of the processes."""
    return min(
        sum(one.profile.cost_us(op) for op in one.profile.ops if family_of(op.name) == "conv") for one in processes
    )


def ours(clean: list[Measured], heads: list[Measured], draw: random.Random) -> float:
    """The part of runs that this plugin fails; where heads are clean ones, none of them is in its own baseline."""
    failed = 0
    for _ in range(RUNS):
        order = draw.sample(clean, len(clean))
        baseline = order[:ROUNDS]
        rest = order[ROUNDS:] if heads is clean else draw.sample(heads, len(heads))
        reference = Reference(merged([one.profile for one in baseline]), (ROUNDS,))
        failed += bool(run(reference, [one.profile for one in rest], 1).failed)
    return failed / RUNS


def main() -> None:
    parser = argparse.ArgumentParser(description="How others judge the same step.")
    parser.add_argument("-n", type=int, default=18, help=f"processes of each kind, {FEWEST} or more (default: 18)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, ... (default: cpu)")
    parser.add_argument("--busy", action="store_true", help="with all cores but the first busy at random")
    options = parser.parse_args()
    if options.n < FEWEST:
        parser.error(f"-n {options.n} leaves too few processes to confirm anything: {FEWEST} or more")
    draw = random.Random(1)
    print(f"{options.n} processes of each kind; before: {load_line()}")
    found: dict[int, list[Measured]] = {extra: [] for extra in EXTRA}
    with busy_cores() if options.busy else nullcontext():
        for _, extra in itertools.product(range(options.n), EXTRA):
            found[extra].append(measured(extra, options.device))
    clean, rows = found[0], []
    usual = convolutions(clean)
    for extra, heads in found.items():
        pairs = [(old, new) for old in clean for new in heads if old is not new]
        rates = [sum(rule(old, new) for old, new in pairs) / len(pairs) for rule in RULES.values()]
        told = f"convolutions {convolutions(heads) / usual - 1:+.1%}" if extra else "clean"
        rows.append((told, *(f"{rate:.1%}" for rate in (*rates, ours(clean, heads, draw)))))
    print(tabulate(rows, ["failed of all", *RULES, "this plugin"]))
    print(f"After: {load_line()}")


if __name__ == "__main__":
    main()
