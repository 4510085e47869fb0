"""How far the two processes of a pair differ, in turns and one after the other: python tests/benchmarks/pairs.py

Both measure LeNet's training, batch 16. In turns they run at the same time, and measure a few steps each, and do so
several times with a new model, as the two sides of --opcost-base do on a CPU. A cell is the standard deviation of what
two processes' logs of a cost differ by, in %: those of pairs made in turns, of pairs made one after the other,
alternately with the former, and of any two of all these. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import math
import socket
import statistics
import subprocess
import sys
from contextlib import nullcontext
from itertools import combinations

from busy import busy_cores
from lab import lab_step, load_line
from tabulate import tabulate

from pytest_opcost.costs import TOTAL, CostProfile, ratio_forms
from pytest_opcost.families import DEFAULT_RATIO
from pytest_opcost.measure import Plan, fresh_memory, measure
from pytest_opcost.merging import REPETITIONS, averaged
from pytest_opcost.partner import Partner

LEAST_SHARE = 0.02
IN_TURNS, AFTER, ANY = "in turns", "one after the other", "any two"


def figures(connection: int | None, *, first: bool) -> dict[str, float]:
    """What one process finds: the ratios, the total and each operator that matters, in microseconds a step."""
    if connection is None:
        profile = measure(lab_step("LeNet", "train", 16, "cpu"), Plan("cpu", exact=False))
    else:
        partner = Partner(socket.socket(fileno=connection), ["train"], first=first)
        profile = averaged([repetition(partner, number) for number in range(REPETITIONS)])
    ratios = {form: profile.ratio(form) or math.nan for form in ratio_forms(profile, [DEFAULT_RATIO])}
    rows = {op.name: profile.cost_us(op) for op in profile.ops if op.share >= LEAST_SHARE}
    return {**ratios, TOTAL: profile.total_us, **rows}


def repetition(partner: Partner, number: int) -> CostProfile:
    """What one of several measurements in turns finds, each of a model of its own."""
    partner.at("train", number)
    _kept = fresh_memory("cpu", str(number))
    return measure(lab_step("LeNet", "train", 16, "cpu"), Plan("cpu", exact=False, partner=partner).repeated(number))


def started(end: socket.socket | None = None, *, first: bool = False) -> subprocess.Popen[str]:
    """A process that measures, at that end of a connection if there is one."""
    more = [] if end is None else ["--connection", str(end.fileno()), *(["--first"] if first else [])]
    handed = () if end is None else (end.fileno(),)
    return subprocess.Popen(
        [sys.executable, __file__, "-n0", *more], stdout=subprocess.PIPE, text=True, pass_fds=handed
    )


def found_by(process: subprocess.Popen[str]) -> dict[str, float]:
    """What it printed, at its end."""
    printed, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    found: dict[str, float] = json.loads(printed.splitlines()[-1])
    return found


def pair_in_turns() -> list[dict[str, float]]:
    ends = socket.socketpair()
    processes = [started(end, first=end is ends[0]) for end in ends]
    for end in ends:
        end.close()
    return [found_by(process) for process in processes]


def main() -> None:
    parser = argparse.ArgumentParser(description="How far the two processes of a pair differ.")
    parser.add_argument("-n", type=int, default=16, help="pairs of each kind (default: 16)")
    parser.add_argument("--busy", action="store_true", help="keep the other cores busy at random intervals")
    parser.add_argument("--connection", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--first", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.n == 0:  # one of the processes
        print(json.dumps(figures(options.connection, first=options.first)))
        return
    print(f"{options.n} pairs of each kind; before: {load_line()}")
    found: dict[str, list[list[dict[str, float]]]] = {IN_TURNS: [], AFTER: []}
    with busy_cores() if options.busy else nullcontext():
        for _ in range(options.n):
            found[IN_TURNS].append(pair_in_turns())
            found[AFTER].append([found_by(started()), found_by(started())])
    processes = [one for pairs in found.values() for pair in pairs for one in pair]
    kinds = {**found, ANY: [list(pair) for pair in combinations(processes, 2)]}
    names = {name: statistics.median(one[name] for one in processes if name in one) for name in processes[0]}
    rows = [(name, f"{us:.4g}", *(spread(pairs, name) for pairs in kinds.values())) for name, us in names.items()]
    print(tabulate(rows, ["", "", *kinds], disable_numparse=True))
    print(f"After: {load_line()}")


def spread(pairs: list[list[dict[str, float]]], name: str) -> str:
    """The root of the mean square of the differences of a figure's log, %."""
    logs = [math.log(one[name] / other[name]) for one, other in pairs if name in one and name in other]
    return f"{100 * math.sqrt(statistics.fmean(log * log for log in logs)):.2f} %" if logs else ""


if __name__ == "__main__":
    main()
