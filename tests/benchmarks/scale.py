"""What many tests cost: python tests/benchmarks/scale.py [--tests 10,100,1000] [--measurements 1000]

First pytest runs so many opcost tests, each with a baseline of its own, no two of them alike in costs or inputs, made
of the repository's twelve of one CPU. Nothing is measured, but a ready profile read, by the same tests without the
plugin as well, so that what it takes beyond them is its own. Time is the processor's, which other work on the machine
lengthens least; of `--repeat` runs the quickest counts. Then one process measures a tiny step so many times, and
another begins and ends as many sessions of torch.profiler around the same steps: what they grow by differs by what the
plugin itself keeps.
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from comparing import unlike_others, with_inputs
from tabulate import tabulate

from pytest_opcost import rendering, storage
from pytest_opcost.baselines import baseline_path

if TYPE_CHECKING:
    from pytest_opcost.baselines import Baseline

_TURNS = tempfile.mkdtemp(prefix="opcost-scale-")
TOP, TARGET_MS, TARGET_COMPARE_S = 10, 5.0, 5.0
_MODELS = "tests-opcost-test_lenet*.yaml"

_CONFTEST = """
import pathlib

from pytest_opcost import seams, storage

ENVIRONMENT = storage.load(pathlib.Path(__file__).with_name("model.yaml")).profile.environment
seams.measure_step = lambda step, options, check, device: step()
seams.find_environments = lambda options: [ENVIRONMENT]
"""
_TESTS = """
import gc
import pathlib
import pickle

import pytest

PROFILES = pathlib.Path(__file__).parents[1] / "profiles"


@pytest.mark.parametrize("number", range({count}))
def test_step(number{fixture}):
    gc.disable()  # as measuring does
    profile = pickle.loads((PROFILES / str(number)).read_bytes())
    gc.enable()
    {last}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", default="10,100,1000", help="how many tests, by turns")
    parser.add_argument("--measurements", type=int, default=1000, help="measurements in one process; 0: none")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the quickest counts")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = [int(count) for count in arguments.tests.split(",")]
        own_cost(Path(folder), counts, arguments.repeat)
        compare_folders(Path(folder, f"with-{counts[-1]}"), counts[-1])
    os.rmdir(_TURNS)
    if arguments.measurements:
        memory(arguments.measurements)


# The plugin's own cost


def own_cost(folder: Path, counts: list[int], repeat: int) -> None:
    machine = sorted(Path(__file__).parents[2].glob("baselines/cpu-*"))[-1]
    patterns = [storage.load(path) for path in sorted(machine.glob(_MODELS))]
    write_profiles(folder / "profiles", patterns, max(counts))
    rows = []
    for count in counts:
        for path in (with_it := folder / f"with-{count}", without := folder / f"without-{count}"):
            path.mkdir()
            (path / "pytest.ini").write_text("[pytest]\n")
        write_project(with_it, patterns, count)
        (without / "test_many.py").write_text(_TESTS.format(count=count, fixture="", last="assert profile.ops"))
        plain = min(cpu_seconds(without, "-p", "no:opcost") for _ in range(repeat))
        own = min(cpu_seconds(with_it, "--opcost", "--opcost-missing=fail") for _ in range(repeat)) - plain
        rows.append((count, own))
    first, start = rows[0]
    table = [
        [count, f"{own:.2f}", f"{1e3 * (own - start) / (count - first):.2f}" if count > first else ""]
        for count, own in rows
    ]
    headers = ["tests", "s beyond plain pytest", f"ms for each test beyond {first} (at most {TARGET_MS:g})"]
    print(tabulate(table, headers=headers, disable_numparse=True), "\n", flush=True)


def write_profiles(folder: Path, patterns: list[Baseline], count: int) -> None:
    """What each test "measures"."""
    folder.mkdir()
    for number, pattern in zip(range(count), cycle(patterns)):
        ops = tuple(with_inputs(op, number) for op in pattern.profile.ops)
        (folder / str(number)).write_bytes(pickle.dumps(replace(pattern.profile, ops=ops)))


def write_project(folder: Path, patterns: list[Baseline], count: int) -> None:
    """So many opcost tests, each with a baseline of its own."""
    (folder / "model.yaml").write_text(rendering.render(patterns[0], TOP), "utf-8")
    (folder / "conftest.py").write_text(_CONFTEST)
    last = "opcost.check(lambda: profile)"
    (folder / "test_many.py").write_text(_TESTS.format(count=count, fixture=", opcost", last=last))
    draw, machine = random.Random(0), patterns[0].profile.environment.machine_key
    for number, pattern in zip(range(count), cycle(patterns)):
        one = replace(unlike_others(pattern, number, draw), test=f"test_many.py::test_step[{number}]")
        storage.write(baseline_path(folder / "baselines", machine, one.test, None), rendering.render(one, TOP))


def cpu_seconds(folder: Path, *options: str) -> float:
    """The processor's time of one pytest run, in seconds."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment(), check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 5):
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def environment() -> dict[str, str]:
    root = str(Path(__file__).parents[2])
    # A folder of our own for turns: other runs of the machine are not waited for.
    return os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]), "TMPDIR": _TURNS}


def compare_folders(folder: Path, count: int) -> None:
    """`opcost compare` of two folders of baselines, where there is such a command."""
    command = [sys.executable, "-m", "pytest_opcost", "compare", "baselines", "baselines", "--json"]
    begun = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment(), check=False)
    seconds = time.perf_counter() - begun
    told = f"{seconds:.1f} s" if done.returncode == 0 else f"no such command ({done.stderr.strip().splitlines()[-1]})"
    print(f"opcost compare of two folders of {count} baselines (at most {TARGET_COMPARE_S:g} s): {told}\n", flush=True)


# Memory

_MEMORY = """
import gc, resource, sys
from pathlib import Path
import torch

count, own = int(sys.argv[1]), sys.argv[2] == "own"
weights = torch.randn(8, 8, requires_grad=True)
step = lambda: (weights @ weights).sum().backward()

if own:
    from pytest_opcost.measure import Plan, measure
    once = lambda: measure(step, Plan("cpu", 1, 5))
else:
    def once():
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
            for _ in range(7):
                step()

def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

for number in range(count + 1):
    if number % (count // 4) == 0 and number or number == count // 10:
        print(number, resident(), flush=True)
    once()
"""


def memory(count: int) -> None:
    """How much a process grows by, measurement by measurement."""
    grown = {}
    for what in ("own", "bare"):
        done = subprocess.run(
            [sys.executable, "-c", _MEMORY, str(count), what],
            capture_output=True,
            text=True,
            env=environment(),
            check=True,
        )
        pairs = [line.split() for line in done.stdout.splitlines()]
        grown[what] = {int(number): int(size) / 2**20 for number, size in pairs}
    start = min(grown["own"])
    rows = [
        [number, *(f"{sizes[number]:.1f} (+{sizes[number] - sizes[start]:.1f})" for sizes in grown.values())]
        for number in grown["own"]
    ]
    headers = ["measurements", "MiB, measured by the plugin", "MiB, as many sessions of torch.profiler alone"]
    print(tabulate(rows, headers=headers, disable_numparse=True))


if __name__ == "__main__":
    main()
