"""How long a clean session takes, and a confirmation: python tests/benchmarks/sessions.py [--device=cuda] [--busy]

The repository's own twelve tests, LeNet and LeNet-5 in training and inference at three batch sizes, against baselines
of this machine, which are recorded first where the repository has none. Then the four of batch 16 again, with baselines
that are edited as if the dearest operator had been cheaper: each is suspicious, and goes to fresh processes. What
importing torch takes is measured beside and taken off the clean session, since every test that uses torch pays it.
Nothing is asserted; targets stand beside.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from busy import busy_cores
from lab import load_line
from tabulate import tabulate
from verdicts import dearer as scaled

from pytest_opcost import rendering, storage
from pytest_opcost.costs import RecordedRatio
from pytest_opcost.measure import environments_of

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY = Path(__file__).resolve().parents[2]
TESTS = ("tests/opcost/test_lenet.py", "tests/opcost/test_lenet5.py")
COUNT, IMPORTS = 12, 3
#: A test's seconds are those of its call: the setup of a run's first test imports torch.
_CALLS = ("-o", "junit_duration_report=call")


class Targets(NamedTuple):
    """Seconds: of a clean session of twelve tests after torch is imported, and of a confirmation of one test."""

    session: float
    confirmation: float


TARGETS = {"quiet": Targets(20, 60), "loaded": Targets(30, 120), "device": Targets(15, 30)}


class Session(NamedTuple):
    """What a run of pytest took in all, and of each test: its seconds, its entry in the results."""

    seconds: float
    tests: list[tuple[float, dict[str, object]]]


def run_session(device: str, folder: Path, *more: str) -> Session:
    """Run the tests against the baselines in a folder."""
    junit, results = folder / "junit.xml", folder / "results.json"
    command = [sys.executable, "-m", "pytest", *TESTS, "--opcost", f"--opcost-device={device}", "--opcost-mnist=sample"]
    files = [f"--opcost-baselines={folder / 'baselines'}", f"--junitxml={junit}", f"--opcost-json={results}"]
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS")}
    start = time.perf_counter()
    ran = subprocess.run(
        [*command, *files, "-p", "no:cacheprovider", *_CALLS, *more],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
    )
    seconds = time.perf_counter() - start
    if ran.returncode not in (0, 1):
        sys.exit(ran.stdout.decode(errors="replace")[-3000:] + ran.stderr.decode(errors="replace")[-1000:])
    taken = {
        f"{case.get('classname', '').rpartition('.')[2]}.py::{case.get('name')}": float(case.get("time", "nan"))
        for case in ET.parse(junit).iter("testcase")
    }
    tests = json.loads(results.read_text(encoding="utf-8"))["tests"]
    return Session(seconds, [(taken[test["test"].rpartition("/")[2]], test) for test in tests])


def seconds_of_imports() -> float:
    """What a process takes that does nothing but import torch and torchvision."""
    taken = []
    for _ in range(IMPORTS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import torch, torchvision"], check=True)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def make_cheaper(path: Path, by: float) -> str:
    """Edit a baseline as if its dearest operator had been cheaper, so that it is dearer now by `by`; its name."""
    baseline = storage.load(path)
    dearest = baseline.profile.top(1)[0][0]
    profile = scaled(baseline.profile, frozenset({dearest.name}), 1 / (1 + by) - 1)
    ratios = {
        form: RecordedRatio(value, ratio.spread)
        for form, ratio in baseline.ratios.items()
        if (value := profile.ratio(form)) is not None
    }
    storage.write(path, rendering.render(replace(baseline, profile=profile, ratios=ratios), top=10))
    return dearest.name


def provide_baselines(device: str, folder: Path) -> None:
    """Copy those that the repository has of this machine, or record some."""
    machine = environments_of([device], 1, quiet=True)[0].machine_key
    own = REPOSITORY / "baselines" / machine
    if len(list(own.glob("tests-opcost-test_lenet*"))) == COUNT:
        shutil.copytree(own, folder / "baselines" / machine)
        print(f"Baselines: those of the repository for {machine}.")
        return
    recorded = run_session(device, folder, "--opcost-update-baselines")
    print(f"Baselines: recorded in {recorded.seconds:.0f} s, since the repository has not all of {machine}.")


def clean_session(device: str, folder: Path, target: float) -> None:
    imports = seconds_of_imports()
    clean = run_session(device, folder)
    closer = [seconds for seconds, test in clean.tests if test["measurements"] != 1]
    rest = clean.seconds - imports
    print(
        f"A clean session of {len(clean.tests)} tests: {clean.seconds:.1f} s, {imports:.1f} s of them importing torch "
        f"and torchvision; {rest:.1f} s without. Target {target:g} s: {'met' if rest <= target else 'NOT met'}."
    )
    if closer:
        print(f"{len(closer)} of them were suspicious, which took {sum(closer):.1f} s of it.")
    print()


def confirmations(device: str, folder: Path, by: Sequence[float], target: float) -> None:
    rows: list[tuple[object, ...]] = []
    for part in by:
        with tempfile.TemporaryDirectory() as other:
            shutil.copytree(folder / "baselines", Path(other) / "baselines")
            edited = {storage.load(path).test: path for path in Path(other, "baselines").rglob("*.yaml")}
            dearer = {
                test: make_cheaper(path, part)
                for test, path in edited.items()
                if test.startswith(TESTS) and test.endswith(f"[{device}-16]")
            }
            for seconds, test in run_session(device, Path(other), "--opcost-batch-size=16").tests:
                name = str(test["test"])
                short = name.rpartition("/")[2]
                rows.append((short, dearer[name], f"{part:.0%}", test["verdict"], test["measurements"], seconds))
    print(tabulate(rows, ("test", "operator dearer", "by", "verdict", "measurements", "s"), floatfmt=".1f"))
    taken = [float(str(row[-1])) for row in rows]
    inside = sum(seconds <= target for seconds in taken)
    print(f"Target, of each test: {target:g} s: met by {inside} of {len(taken)}; the longest took {max(taken):.1f} s.")


def main() -> None:
    parser = argparse.ArgumentParser(description="How long a clean session takes, and a confirmation.")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: cpu)")
    parser.add_argument("--busy", action="store_true", help="with all cores but the first busy at random")
    parser.add_argument("--by", default="0.05,0.2", help="how much dearer, as parts of a cost (default: 0.05,0.2)")
    arguments = parser.parse_args()
    if arguments.busy and arguments.device != "cpu":
        parser.error("--busy is for the CPU: the targets of a device are those of a quiet machine")
    targets = TARGETS["device" if arguments.device != "cpu" else "loaded" if arguments.busy else "quiet"]
    print(f"{arguments.device}, {'other cores busy at random' if arguments.busy else 'quiet'}")
    print(f"Before: {load_line()}\n")
    with tempfile.TemporaryDirectory() as folder:
        provide_baselines(arguments.device, Path(folder))
        with busy_cores() if arguments.busy else nullcontext():
            clean_session(arguments.device, Path(folder), targets.session)
            confirmations(
                arguments.device, Path(folder), [float(part) for part in arguments.by.split(",")], targets.confirmation
            )
    print(f"After: {load_line()}")


if __name__ == "__main__":
    main()
