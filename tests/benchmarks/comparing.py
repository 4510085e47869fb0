"""How long `opcost compare` takes for two folders of 1,000 baselines (target: 5 s).

The folders hold the repository's own baselines of the CPU again and again, each with inputs, costs and samples of its
own, so that no two files of a folder are alike; of its operators' facts the other folder says the same.

Run: python tests/benchmarks/comparing.py [-n 1000]
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost import rendering, storage
from pytest_opcost.facts import digest

if TYPE_CHECKING:
    from pytest_opcost.baselines import Baseline
    from pytest_opcost.costs import OpCost

REPOSITORY = Path(__file__).parents[2]


def write_folder(folder: Path, count: int, seed: int) -> int:
    """Write so many baselines below `folder`; how many operators they have on average."""
    draw = random.Random(seed)
    patterns = [storage.load(path) for path in sorted((REPOSITORY / "baselines").glob("cpu-*/*.yaml"))]
    operators = 0
    for number in range(count):
        pattern = patterns[number % len(patterns)]
        one = unlike_others(pattern, number, draw)
        path = folder / pattern.path.parent.name / f"test_{number}.yaml"
        storage.write(path, rendering.render(replace(one, test=f"tests/test_many.py::test_{number}"), 10))
        operators += len(one.profile.ops)
    return operators // count


def unlike_others(pattern: Baseline, number: int, draw: random.Random) -> Baseline:
    """The baseline with inputs that none of another number has, and with other costs and samples each time."""
    ops = tuple(
        replace(
            with_inputs(op, number),
            self_host_us=op.self_host_us * draw.gauss(1, 0.005),
            samples=tuple(sample * draw.gauss(1, 0.005) for sample in op.samples),
        )
        for op in pattern.profile.ops
    )
    return replace(pattern, profile=replace(pattern.profile, ops=ops))


def with_inputs(op: OpCost, number: int) -> OpCost:
    """The operator with inputs that no operator of another number has."""
    if op.facts is None:
        return op
    inputs = (
        (f"#{digest(f'{number} {name}')}" if name[0] == "#" else f"f32[{number}] {name}", count)
        for name, count in op.facts.inputs
    )
    return replace(op, facts=replace(op.facts, inputs=tuple(inputs)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=1000, help="baselines in each folder")
    count = parser.parse_args().n
    with tempfile.TemporaryDirectory() as temporary:
        sides = [Path(temporary) / side for side in "ab"]
        operators, _ = (write_folder(side, count, seed) for seed, side in enumerate(sides))
        start = time.perf_counter()
        answer = subprocess.run(
            [sys.executable, "-m", "pytest_opcost", "compare", *sides], capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - start
    print(f"{count} baselines of {operators} operators against as many: {seconds:.2f} s (target 5 s)")
    print(*answer.stdout.splitlines()[-1:], *answer.stderr.splitlines(), sep="\n")


if __name__ == "__main__":
    main()
