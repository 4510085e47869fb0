"""The cold first step beside the warm one, in a fresh process: python tests/benchmarks/cold_start.py [--device=cuda]

A first step pays for lazy initialisation: oneDNN's and cuDNN's choice of implementations, loading of kernels, the
optimizer's state. Whoever profiles before training sees a convolution that seems to take a huge time, on a GPU's host
clock some thousand times as long as later. Nothing is asserted; the dearest operators stand first, by cold host time.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from lab import lab_step, load_line, profiled
from tabulate import tabulate

from pytest_opcost.families import family_of
from pytest_opcost.measure.allocator import quiet_allocator
from pytest_opcost.measure.rows import HOST_QUANTILE

STEPS = 30
HEADERS = ("operator", "cold host us", "warm host us", "times", "cold device us", "warm device us")


def compare(arguments: argparse.Namespace) -> None:
    step = lab_step(arguments.network, "infer" if arguments.infer else "train", arguments.batch, arguments.device)
    costs, warm = profiled(step, arguments.device, STEPS)
    cold_host, cold_device = costs.host_ns[0] / 1000, costs.device_ns[0] / 1000
    warm_host = np.quantile(costs.host_ns[warm], HOST_QUANTILE, axis=0) / 1000
    warm_device = np.median(costs.device_ns[warm], axis=0) / 1000
    columns = np.stack([cold_host, warm_host, cold_device, warm_device], axis=1)
    working = [i for i, name in enumerate(costs.names) if family_of(name) != "wait"]
    dearest = sorted(working, key=lambda i: -cold_host[i])
    rows = [_row(costs.names[i], columns[i]) for i in dearest[: arguments.top]]
    rows += [_row("other", columns[dearest[arguments.top :]].sum(axis=0)), _row("total", columns[working].sum(axis=0))]
    rows += [_row(f"all of {side}", _family(costs.names, columns, side)) for side in ("conv", "addmm")]
    print(tabulate(rows, HEADERS, floatfmt=".1f"))
    (conv, addmm) = (_family(costs.names, columns, side) for side in ("conv", "addmm"))
    words = ("cold host", "warm host", "cold device", "warm device")
    ratios = [f"{word} {one / two:.2f}" for word, one, two in zip(words, conv, addmm) if two > 0]
    print(f"conv/addmm: {', '.join(ratios)}")


def _family(names: list[str], columns: np.ndarray, family: str) -> np.ndarray:
    return columns[[i for i, name in enumerate(names) if family_of(name) == family]].sum(axis=0)


def _row(name: str, figures: np.ndarray) -> tuple[object, ...]:
    cold_host, warm_host, cold_device, warm_device = figures.tolist()
    return name, cold_host, warm_host, cold_host / warm_host if warm_host else None, cold_device, warm_device


def main() -> None:
    parser = argparse.ArgumentParser(description="The cold first step beside the warm one.")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, ... (default: cpu)")
    parser.add_argument("--network", default="LeNet", choices=("LeNet", "LeNet-5"))
    parser.add_argument("--batch", type=int, default=16, metavar="N", help="images a step (default: 16)")
    parser.add_argument("--infer", action="store_true", help="an inference step instead of a training step")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="operators to show (default: 10)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    quiet_allocator()
    compare(arguments)
    print(f"Microseconds of self time; warm: of {STEPS} steps. Now: {load_line()}")


if __name__ == "__main__":
    main()
