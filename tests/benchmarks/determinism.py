"""Whether what is called exact is exact: the facts of the Lab's networks from many fresh processes, compared.

python tests/benchmarks/determinism.py [N] [--device cpu|cuda] [--only lenet-infer-16]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from itertools import product

from tabulate import tabulate

from pytest_opcost.facts import COMPARED, digest

BATCHES = (1, 16)
WORKLOADS = [
    f"{net}-{phase}-{batch}" for net, phase, batch in product(("lenet", "lenet5"), ("train", "infer"), BATCHES)
]


def measured(workload: str, device: str) -> dict[str, dict[str, object]]:
    """The exact facts of one workload, operator by operator, in plain data."""
    from lab import lab_step

    from pytest_opcost.measure import Plan, measure

    net, phase, batch = workload.split("-")
    step = lab_step({"lenet": "LeNet", "lenet5": "LeNet-5"}[net], phase, int(batch), device)
    ops = {}
    for op in measure(step, Plan(device, warmup=1, steps=2)).ops:
        facts = asdict(op.facts) if op.facts is not None else {}
        places = sorted({f"{place['phase']} {place['module']}" for place in facts.pop("places", ())})
        # `varying` is told too: a fact that varies in some processes only would escape being compared in the others.
        ops[op.name] = {"calls": "varies" if op.varying else op.calls, **facts, "places": places}
    return ops


def in_a_fresh_process(workloads: list[str], device: str) -> dict[str, dict[str, dict[str, object]]]:
    """The same of several workloads, measured by another Python."""
    command = [sys.executable, __file__, "--device", device, "--worker", *workloads]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"a process that measured ended with {done.returncode}:\n{done.stderr}")
    found: dict[str, dict[str, dict[str, object]]] = json.loads(done.stdout.splitlines()[-1])
    return found


def digest_of(ops: dict[str, dict[str, object]]) -> str:
    """One short name for all facts of a workload."""
    return digest(json.dumps(ops, sort_keys=True))


def differences(seen: list[dict[str, dict[str, object]]]) -> list[str]:
    """Each operator and fact that is not the same in all processes, with its values and how often each was seen."""
    told = []
    for name in sorted({name for ops in seen for name in ops}):
        for fact in ("calls", *COMPARED, "varying", "places"):
            values = Counter(json.dumps(ops.get(name, {}).get(fact)) for ops in seen)
            if len(values) > 1:
                variants = ", ".join(f"{count}x {value}" for value, count in values.most_common())
                told.append(f"{name} {fact}: {variants}")
    return told


def main() -> None:
    """Measure in N fresh processes and tell what differs; exit status 1 where anything does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("processes", nargs="?", type=int, default=20, metavar="N")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", action="append", choices=WORKLOADS, help="this workload alone; repeatable")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps({workload: measured(workload, options.device) for workload in options.worker}))
        return
    workloads = options.only or WORKLOADS
    runs = []
    for number in range(options.processes):
        runs.append(in_a_fresh_process(workloads, options.device))
        told = "  ".join(f"{workload} {digest_of(ops)}" for workload, ops in runs[-1].items())
        print(f"{number + 1:3}  {told}", flush=True)
    rows, details = [], []
    for workload in workloads:
        seen = [run[workload] for run in runs]
        unequal = differences(seen)
        rows.append((workload, len(seen), len({digest_of(ops) for ops in seen}), len(unequal)))
        details += [f"{workload}: {line}" for line in unequal]
    print(tabulate(rows, headers=("workload", "processes", "distinct digests", "facts that differ")))
    print("\n".join(details), end="\n" if details else "")
    raise SystemExit(1 if details else 0)


if __name__ == "__main__":
    main()
