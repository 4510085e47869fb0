"""Record a corpus of clean sessions to try verdicts on: python tests/benchmarks/corpus.py SESSION.json.gz [--busy]

A session is some fresh processes one after the other, each of which measures the Lab's twelve steps as the plugin does,
or twelve of other models (--models), in an order of its own. The file holds every operator's cost on the clock that
counts, microseconds a step, and the part of it that falls into the forward phase, as [cost, forward]. With --paired
every two processes do the same in the same order, several times each: on a CPU at the same time, a few steps in turns;
on a device one after the other, from the same places of its memory, and there each repetition's cost is kept, too, as
[cost, forward, costs]. Where a device's time counts, the next process
starts while one measures, and waits for its turn.
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
from pathlib import Path
from typing import Any


def measure_all(
    device: str, seed: int, connection: int | None, *, models: bool, begins: bool, paired: bool
) -> dict[str, object]:
    """What one process finds, once it is told to begin: a dictionary of the workloads, its machine, and how busy that
    was. One of a pair measures each of them several times, and with a connection to the other one in turns.
    """
    import lab
    import models as others
    import torch

    from pytest_opcost.measure import Plan, fresh_memory, measure
    from pytest_opcost.merging import REPETITIONS, averaged
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
    times = REPETITIONS if paired else 1
    plan = Plan(device, exact=False, partner=partner)
    for name, (network, kind, batch) in zip(names, order):
        profiles = []
        for repetition in range(times):
            if partner is not None:
                partner.at(name, repetition)
            if paired or device != "cpu":
                _kept = fresh_memory(device, f"{seed} {repetition} {network} {kind} {batch}")
            one = plan.repeated(repetition) if paired else plan
            profiles.append(measure(new_step(network, kind, batch, device), one))
        profile = averaged(profiles)
        each = {
            op.name: [[round(us, 3) for us in op.samples]] if device != "cpu" and op.samples else []
            for op in profile.ops
        }
        rows = {
            op.name: [round(profile.cost_us(op), 3), round(op.forward, 4), *each[op.name]]
            for op in profile.ops
            if not op.waits
        }
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


def start(device: str, seed: int, *more: str, connection: int | None = None) -> subprocess.Popen[str]:
    """A process that will measure all once it is told to."""
    command = [sys.executable, __file__, "-", "--device", device, "--seed", str(seed), *more]
    handed = () if connection is None else (connection,)
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=handed)


def pair_of(device: str, seed: int, *more: str) -> list[dict[str, Any]]:
    """What two processes find that measure in turns."""
    ends = socket.socketpair()
    begins = ["--begins"], []
    processes = [
        start(device, seed, *more, "--connection", str(end.fileno()), *first, connection=end.fileno())
        for end, first in zip(ends, begins)
    ]
    for process, end in zip(processes, ends):
        end.close()
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [result_of(process) for process in processes]


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
    for name in ("--seed", "--connection"):
        parser.add_argument(name, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--begins", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.seed is not None:
        how = {"models": options.models, "begins": options.begins, "paired": options.paired}
        print(json.dumps(measure_all(options.device, options.seed, options.connection, **how)))
        return
    from busy import busy_cores

    started, seeds = time.strftime("%Y-%m-%d %H:%M"), [random.randrange(2**31) for _ in range(options.n)]
    in_turns = options.paired and options.device == "cpu"
    more = [*(["--models"] if options.models else []), *(["--paired"] if options.paired else [])]
    if options.paired and not in_turns:
        seeds = [seeds[number // 2] for number in range(options.n)]
    ahead = 1 if options.device == "cpu" else 2
    waiting: deque[subprocess.Popen[str]] = deque()
    processes = []
    with busy_cores() if options.busy else nullcontext():
        for seed in seeds[: options.n // 2] if in_turns else ():
            processes += pair_of(options.device, seed, *more)
        while not in_turns and (seeds or waiting):
            while seeds and len(waiting) < ahead:
                waiting.append(start(options.device, seeds.pop(0), *more))
            processes.append(result_of(waiting.popleft()))
    machine = {name: processes[0][name] for name in ("machine", "card")}
    kind = {"busy": options.busy, "paired": options.paired}
    session = {"started": started, **kind, **machine, "processes": processes}
    for process in processes:
        del process["machine"], process["card"]
    options.path.write_bytes(gzip.compress(json.dumps(session).encode(), mtime=0))


if __name__ == "__main__":
    main()
