"""What many tests cost: python tests/benchmarks/scale.py [--tests 10,100,1000] [--measurements 1000]

First pytest runs so many opcost tests, each with a baseline of its own, all with the figures of one that was really
recorded; nothing is measured, so that what a test takes beyond the same test without the plugin is the plugin's own.
Time is the processor's, which other work on the machine lengthens least; of `--repeat` runs the quickest counts. Then
one process measures a tiny step so many times, and another begins and ends as many sessions of torch.profiler around
the same steps: what they grow by differs by what the plugin itself keeps.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tabulate import tabulate

from pytest_opcost import storage
from pytest_opcost.baselines import Baseline, baseline_path

_TURNS = tempfile.mkdtemp(prefix="opcost-scale-")
TOP, TARGET_MS, TARGET_COMPARE_S = 10, 5.0, 5.0
_MODEL = "tests-opcost-test_lenet.py-test_train-cpu-16-*.yaml"

_CONFTEST = """
import pathlib

from pytest_opcost import seams, storage

PROFILE = storage.load(pathlib.Path(__file__).with_name("model.yaml")).profile
seams.measure_step = lambda step, options, check, device: PROFILE
seams.find_environments = lambda options: [PROFILE.environment]
"""
_TESTS = (
    "import pytest\n\n\n@pytest.mark.parametrize('number', range({count}))\ndef test_step(number{fixture}):\n{body}"
)


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
    rows = []
    for count in counts:
        for path in (with_it := folder / f"with-{count}", without := folder / f"without-{count}"):
            path.mkdir()
        write_project(with_it, count)
        body = "    pass\n"
        (without / "test_many.py").write_text(_TESTS.format(count=count, fixture="", body=body))
        (without / "pytest.ini").write_text("[pytest]\n")
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


def write_project(folder: Path, count: int) -> None:
    """So many opcost tests, each with the baseline of one that was really recorded."""
    path = next(Path(__file__).parents[2].glob(f"baselines/cpu-*/{_MODEL}"))
    baseline = storage.load(path)
    (folder / "model.yaml").write_text(path.read_text("utf-8"), "utf-8")
    (folder / "conftest.py").write_text(_CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    body = "    opcost.check(lambda: None)\n"
    (folder / "test_many.py").write_text(_TESTS.format(count=count, fixture=", opcost", body=body))
    for number in range(count):
        write_baseline(folder / "baselines", baseline, f"test_many.py::test_step[{number}]")


def write_baseline(folder: Path, like: Baseline, test: str) -> None:
    path = baseline_path(folder, like.profile.environment.machine_key, test, None)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(storage.render(replace(like, test=test), TOP), "utf-8")


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
