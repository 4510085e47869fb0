"""Record a corpus of clean sessions to try verdicts on: python tests/benchmarks/corpus.py SESSION.json.gz [--busy]

A session is some fresh processes one after the other, each of which measures the Lab's twelve steps as the plugin does,
or twelve of other models (--models), in an order of its own. The file holds every operator's cost on the clock that
counts, microseconds a step, and the part of it that falls into the forward phase, as [cost, forward]. With --paired
every two processes do the same in the same order, several times each, and each repetition's cost is kept, too, as
[cost, forward, costs]: on a CPU at the same time, a few steps in turns; on a device one after the other, from the same
places of its memory. Where a device's time counts, the next process starts while one measures, and waits for it.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import random
import socket
import subprocess
import sys
import time
from collections import deque
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from pytest_opcost.merging import REPETITIONS


def measure_all(
    device: str, seed: int, connection: int | None, *, models: bool, begins: bool, repetitions: int | None
) -> dict[str, object]:
    """What one process finds, once it is told to begin: a dictionary of the workloads, its machine, and how busy that
    was. One of a pair measures each of them in `repetitions`, and with a connection to the other one in turns.
    """
    import lab
    import models as others
    import torch

    from pytest_opcost.measure import Plan, fresh_memory, measure
    from pytest_opcost.partner import Partner

    sys.stdin.readline()
    order = list(others.WORKLOADS if models else lab.WORKLOADS)
    new_step = others.model_step if models else lab.lab_step
    random.Random(seed).shuffle(order)
    names = [" ".join(map(str, one)) for one in order]
    partner = None if connection is None else Partner(socket.socket(fileno=connection), names, first=begins)
    torch.set_num_threads(1)
    gc.freeze()  # as a round does
    found: dict[str, object] = {}
    machine: dict[str, str | None] = {}
    plan = Plan(device, exact=False, partner=partner)
    for name, workload in zip(names, order):
        step = partial(new_step, *workload, device)
        if repetitions:
            profile = lab.repeated(name, step, plan, seed, repetitions)
        else:
            _kept = fresh_memory(device, f"{seed} {name}") if device != "cpu" else None
            profile = measure(step(), plan)
        rows = {}
        for op in profile.ops:
            if not op.waits:
                each = [[round(us, 3) for us in op.samples]] if op.samples else []
                rows[op.name] = [round(profile.cost_us(op), 3), round(op.forward, 4), *each]
        found[name] = {
            "load": round(profile.load, 3),
            "pace_us": round(profile.pace_us, 3),
            "wall_us": round(profile.wall_us, 2),
            "ops": rows,
        }
        machine = {"machine": profile.environment.machine_key, "card": dict(profile.environment.details).get("card")}
    if partner is not None:
        if partner.lost:
            sys.exit("the other process of the pair was lost")
        partner.end()
    return {**machine, "order": names, "tests": found}


def main() -> None:
    parser = argparse.ArgumentParser(description="Record a corpus of clean sessions.")
    parser.add_argument("path", type=Path, help="the session's file")
    parser.add_argument("-n", type=int, default=16, help="processes (default: 16)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, ... (default: cpu)")
    parser.add_argument("--busy", action="store_true", help="keep the other cores busy at random intervals")
    parser.add_argument("--paired", action="store_true", help="every two processes are a pair")
    parser.add_argument(
        "--repetitions", type=int, default=REPETITIONS, metavar="N",
        help=f"how many times a process of a pair measures each step (default: {REPETITIONS})",
    )  # fmt: skip
    parser.add_argument("--models", action="store_true", help="other models than the Lab's, see models.py")
    for name in ("--seed", "--connection"):
        parser.add_argument(name, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--begins", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.seed is not None:
        how = {"models": options.models, "begins": options.begins}
        repetitions = options.repetitions if options.paired else None
        print(json.dumps(measure_all(options.device, options.seed, options.connection, repetitions=repetitions, **how)))
        return
    from beside import found_by, found_by_pair, started
    from busy import busy_cores
    from lab import held

    begun, seeds = time.strftime("%Y-%m-%d %H:%M"), [random.randrange(2**31) for _ in range(options.n)]
    in_turns = options.paired and options.device == "cpu"
    more = [f"--{name}" for name in ("models", "paired") if getattr(options, name)]

    def command(seed: int) -> list[str]:
        how = ["--device", options.device, "--seed", str(seed), "--repetitions", str(options.repetitions)]
        return [__file__, "-", *how, *more]

    if options.paired and not in_turns:
        seeds = [seeds[number // 2] for number in range(options.n)]
    ahead = 1 if options.device == "cpu" else 2
    waiting: deque[subprocess.Popen[str]] = deque()
    processes: list[dict[str, object]] = []
    kind = {"busy": options.busy, "paired": options.paired}

    def keep(found: list[dict[str, object]]) -> None:
        """Writes the session so far: a recording that is stopped loses no more than what it is at."""
        processes.extend(found)
        machine = {name: processes[0][name] for name in ("machine", "card")}
        each = [{name: process[name] for name in ("order", "tests")} for process in processes]
        if options.paired:
            each = each[: len(each) // 2 * 2]
        session = {"started": begun, **kind, **machine, "processes": each}
        written = Path(f"{options.path}.part")
        written.write_bytes(gzip.compress(json.dumps(session).encode(), mtime=0))
        written.replace(options.path)

    _held = held(options.device)
    with busy_cores() if options.busy else nullcontext():
        for seed in seeds[: options.n // 2] if in_turns else ():
            keep(found_by_pair(command(seed)))
        while not in_turns and (seeds or waiting):
            while seeds and len(waiting) < ahead:
                waiting.append(started(command(seeds.pop(0))))
            keep([found_by(waiting.popleft())])


if __name__ == "__main__":
    main()
