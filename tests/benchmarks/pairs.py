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
from contextlib import nullcontext
from functools import partial
from itertools import combinations

from beside import found_by, found_by_pair, started
from busy import busy_cores
from lab import lab_step, load_line, repeated
from tabulate import tabulate

from pytest_opcost.costs import TOTAL, ratio_forms
from pytest_opcost.families import DEFAULT_RATIO
from pytest_opcost.measure import Plan, measure
from pytest_opcost.partner import Partner

LEAST_SHARE = 0.02
IN_TURNS, AFTER, ANY = "in turns", "one after the other", "any two"


def figures(connection: int | None, *, begins: bool) -> dict[str, float]:
    """What one process finds: the ratios, the total and each operator that matters, in microseconds a step."""
    new_step = partial(lab_step, "LeNet", "train", 16, "cpu")
    if connection is None:
        profile = measure(new_step(), Plan("cpu", exact=False))
    else:
        partner = Partner(socket.socket(fileno=connection), ["train"], first=begins)
        profile = repeated("train", new_step, Plan("cpu", exact=False, partner=partner))
    ratios = {form: profile.ratio(form) or math.nan for form in ratio_forms(profile, [DEFAULT_RATIO])}
    rows = {op.name: profile.cost_us(op) for op in profile.ops if op.share >= LEAST_SHARE}
    return {**ratios, TOTAL: profile.total_us, **rows}


def main() -> None:
    parser = argparse.ArgumentParser(description="How far the two processes of a pair differ.")
    parser.add_argument("-n", type=int, default=16, help="pairs of each kind (default: 16)")
    parser.add_argument("--busy", action="store_true", help="keep the other cores busy at random intervals")
    parser.add_argument("--connection", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--begins", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.n == 0:  # one of the processes
        print(json.dumps(figures(options.connection, begins=options.begins)))
        return
    print(f"{options.n} pairs of each kind; before: {load_line()}")
    process = [__file__, "-n0"]
    found: dict[str, list[list[dict[str, float]]]] = {IN_TURNS: [], AFTER: []}
    with busy_cores() if options.busy else nullcontext():
        for _ in range(options.n):
            found[IN_TURNS].append(found_by_pair(process))
            found[AFTER].append([found_by(started(process)) for _ in range(2)])
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
