"""Record a corpus of clean sessions to try verdicts on: python tests/benchmarks/corpus.py SESSION.json.gz [--busy]

A session is some fresh processes one after the other, each of which measures the Lab's twelve steps as the plugin does,
or twelve of other models (--models), in an order of its own. The file holds every operator's cost on the clock that
counts, microseconds a step, and the part of it that falls into the forward phase, as [cost, forward]. With --paired
every two processes do the same in the same order, and begin at the same places of a device's memory. Where a device's
time counts, the next process starts while one measures, and waits for its turn.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
import time
from collections import deque
from contextlib import nullcontext
from pathlib import Path
from typing import Any


def measure_all(device: str, seed: int, *, models: bool) -> dict[str, object]:
    """What one process finds, once it is told to begin: a dictionary of the workloads, its machine, and how busy that
    was.
    """
    import lab
    import models as others
    import torch

    from pytest_opcost.measure import Plan, fresh_memory, measure

    sys.stdin.readline()
    order = list(others.WORKLOADS if models else lab.WORKLOADS)
    new_step = others.model_step if models else lab.lab_step
    random.Random(seed).shuffle(order)
    torch.set_num_threads(1)
    found: dict[str, object] = {}
    machine: dict[str, str | None] = {}
    for network, kind, batch in order:
        _kept = fresh_memory(device, f"{seed} {network} {kind} {batch}")
        profile = measure(new_step(network, kind, batch, device), Plan(device, exact=False))
        rows = {op.name: [round(profile.cost_us(op), 3), round(op.forward, 4)] for op in profile.ops if not op.waits}
        found[f"{network} {kind} {batch}"] = {
            "load": round(profile.load, 3),
            "pace_us": round(profile.pace_us, 3),
            "wall_us": round(profile.wall_us, 2),
            "ops": rows,
        }
        machine = {"machine": profile.environment.machine_key, "card": dict(profile.environment.details).get("card")}
    return {**machine, "order": [" ".join(map(str, one)) for one in order], "tests": found}


def start(device: str, seed: int, *, models: bool) -> subprocess.Popen[str]:
    """A process that will measure all once it is told to."""
    which = ["--models"] if models else []
    command = [sys.executable, __file__, "-", "--device", device, "--seed", str(seed), *which]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def result_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What it finds, now that its turn has come."""
    printed, _ = process.communicate("\n")
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Record a corpus of clean sessions.")
    parser.add_argument("path", type=Path, help="the session's file")
    parser.add_argument("-n", type=int, default=16, help="processes (default: 16)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, ... (default: cpu)")
    parser.add_argument("--busy", action="store_true", help="keep the other cores busy at random intervals")
    parser.add_argument("--paired", action="store_true", help="every two processes are a pair")
    parser.add_argument("--models", action="store_true", help="other models than the Lab's, see models.py")
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.seed is not None:
        print(json.dumps(measure_all(options.device, options.seed, models=options.models)))
        return
    from busy import busy_cores

    started, seeds = time.strftime("%Y-%m-%d %H:%M"), [random.randrange(2**31) for _ in range(options.n)]
    if options.paired:
        seeds = [seeds[number // 2] for number in range(options.n)]
    ahead = 1 if options.device == "cpu" else 2
    waiting: deque[subprocess.Popen[str]] = deque()
    processes = []
    with busy_cores() if options.busy else nullcontext():
        while seeds or waiting:
            while seeds and len(waiting) < ahead:
                waiting.append(start(options.device, seeds.pop(0), models=options.models))
            processes.append(result_of(waiting.popleft()))
    machine = {name: processes[0][name] for name in ("machine", "card")}
    kind = {"busy": options.busy, "paired": options.paired}
    session = {"started": started, **kind, **machine, "processes": processes}
    for process in processes:
        del process["machine"], process["card"]
    options.path.write_bytes(gzip.compress(json.dumps(session).encode(), mtime=0))


if __name__ == "__main__":
    main()
