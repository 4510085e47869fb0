"""What pytest plugins add to `pytest --collect-only` where nobody asks for them: python tests/benchmarks/startup.py

Every plugin by itself against its own `-p no:`, all other installed ones switched off: what one plugin imports, another
would find imported. Runs with and without it alternate, and what is told is the median over pairs of the difference, of
time by the clock and of the process's own CPU time, which a busy machine disturbs less.
Of the plugins named below those are tried that are installed: `python -m tox run -e neighbours -- python
tests/benchmarks/startup.py` has them all. pytest-torch imports torch where it is; there it is not.

With --instructions, which needs valgrind, the processor's instructions are counted too: they are the same in every run,
however busy the machine, to a few thousand of some 900 million. The milliseconds beside them are their part of a run.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

#: Entry points of pytest's, by distribution.
PLUGINS = {
    "pytest-opcost": "opcost",
    "pytest-benchmark": "benchmark",
    "pytest-codspeed": "codspeed",
    "syrupy": "syrupy",
    "pytest-torch": "pytest_torch",
}
#: Milliseconds that this plugin may add.
TARGET = 3.0
#: Whoever sets the last of them has pytest compile every plugin anew each time.
_NOT_PASSED_ON = ("PYTEST_", "OPCOST_", "PYTHONDONTWRITEBYTECODE")


def one_run(folder: str, off: Sequence[str]) -> tuple[float, float]:
    """Milliseconds that one run takes without these plugins: by the clock, and of the CPU."""
    command, environment = _command(off), _environment()
    before, start = _cpu_seconds(), time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return 1000 * (time.perf_counter() - start), 1000 * (_cpu_seconds() - before)


def million_instructions(folder: str, off: Sequence[str]) -> float:
    """How many instructions one run takes without these plugins, by valgrind's cachegrind."""
    count = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *_command(off)]
    environment = {**_environment(), "PYTHONHASHSEED": "0"}
    ran = subprocess.run(count, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", ran.stderr)
    assert found is not None, ran.stderr
    return int(found.group(1).replace(",", "")) / 1e6


def _command(off: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "pytest", "--collect-only", "-q", *(f"-pno:{name}" for name in off)]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(_NOT_PASSED_ON)}


def _cpu_seconds() -> float:
    """What the processes took that this one has started and seen end, to the microsecond, unlike `os.times()`."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def added(folder: str, plugin: str, installed: Sequence[str], pairs: int) -> tuple[list[float], list[float], float]:
    """Milliseconds that a plugin adds in each pair of runs, by both clocks, and the median of a run without it."""
    others = [name for name in installed if name != plugin]
    found: list[tuple[float, float]] = []
    without: list[float] = []
    for number in range(-1, pairs):
        both = {}
        for off in (True, False) if number % 2 else (False, True):
            both[off] = one_run(folder, [*others, plugin] if off else others)
        if number >= 0:  # the first pair writes bytecode
            found.append((both[False][0] - both[True][0], both[False][1] - both[True][1]))
            without.append(both[True][0])
    return [wall for wall, _ in found], [cpu for _, cpu in found], statistics.median(without)


def main() -> None:
    parser = argparse.ArgumentParser(description="What pytest plugins add to `pytest --collect-only`.")
    parser.add_argument("-n", type=int, default=40, help="pairs of runs for each plugin (default: 40)")
    parser.add_argument("--only", metavar="NAME", help="one of the plugins, such as pytest-opcost")
    parser.add_argument("--instructions", action="store_true", help="count those too; needs valgrind")
    options = parser.parse_args()
    if options.instructions and shutil.which("valgrind") is None:
        parser.error("--instructions needs valgrind on the path")
    found: tuple[EntryPoint, ...] = tuple(entry_points(group="pytest11"))
    installed = [point.name for point in found]
    print(f"Python {sys.version.split()[0]}; {options.n} pairs of runs; milliseconds")
    print(f"{'plugin':18}{'added':>8}{'half of the pairs':>20}{'CPU time':>10}{'without':>10}")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pytest.ini").write_text("[pytest]\n")
        Path(folder, "test_one.py").write_text("def test_one():\n    pass\n")
        for name, plugin in PLUGINS.items():
            if options.only not in (None, name):
                continue
            if plugin not in installed:
                print(f"{name:18} is not installed")
                continue
            wall, cpu, without = added(folder, plugin, installed, options.n)
            low, median, high = statistics.quantiles(wall, n=4)
            told = f" (at most {TARGET:g} wanted)" if name == "pytest-opcost" else ""
            between = f"{low:.1f} to {high:.1f}"
            print(f"{name:18}{median:8.1f}{between:>20}{statistics.median(cpu):10.1f}{without:10.1f}{told}", flush=True)
            if options.instructions:
                others = [other for other in installed if other != plugin]
                bare = million_instructions(folder, [*others, plugin])
                more = million_instructions(folder, others) - bare
                part = more / bare
                print(f"{'':18}{more:8.2f} million instructions of {bare:.0f}, {part:.2%}: {part * without:.1f} ms")


if __name__ == "__main__":
    main()
