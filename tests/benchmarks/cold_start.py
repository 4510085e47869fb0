"""The cold first step beside the warm one, in a fresh process: python tests/benchmarks/cold_start.py [--device=cuda]

A first step pays for lazy initialisation: oneDNN's and cuDNN's choice of implementations, loading of kernels, the
optimizer's state. Whoever profiles before training sees a convolution that seems to take a huge time, on a GPU's host
clock some thousand times as long as later. Nothing is asserted; the dearest operators stand first, by cold host time.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TypeAlias

import torch
from lab import lab_step, load_line, profiled
from tabulate import tabulate

from pytest_opcost.measure.allocator import quiet_allocator
from pytest_opcost.measure.rows import op_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_opcost.costs import OpCost

Figures: TypeAlias = tuple[float, float, float, float]

STEPS = 30
HEADERS = ("operator", "cold host us", "warm host us", "times", "cold device us", "warm device us")


def compare(arguments: argparse.Namespace) -> None:
    step = lab_step(arguments.network, "infer" if arguments.infer else "train", arguments.batch, arguments.device)
    costs, warm = profiled(step, arguments.device, STEPS)
    cold, later = ({op.name: op for op in op_rows(costs, which, {})} for which in (slice(0, 1), warm))
    rows = {name: _figures(op, later.get(name)) for name, op in cold.items() if not op.waits}
    dearest = sorted(rows, key=lambda name: -rows[name][0])
    shown = [_row(name, rows[name]) for name in dearest[: arguments.top]]
    shown += [_row("other", _sum(rows[name] for name in dearest[arguments.top :])), _row("total", _sum(rows.values()))]
    conv, addmm = (_sum(rows[name] for name in rows if cold[name].family == side) for side in ("conv", "addmm"))
    shown += [_row("all of conv", conv), _row("all of addmm", addmm)]
    print(tabulate(shown, HEADERS, floatfmt=".1f"))
    words = ("cold host", "warm host", "cold device", "warm device")
    ratios = [f"{word} {one / two:.2f}" for word, one, two in zip(words, conv, addmm) if two > 0]
    print(f"conv/addmm: {', '.join(ratios)}")


def _figures(cold: OpCost, warm: OpCost | None) -> Figures:
    """Microseconds: cold and warm host time, cold and warm device time."""
    warm_host, warm_device = (warm.self_host_us, warm.self_device_us) if warm else (0.0, 0.0)
    return cold.self_host_us, warm_host, cold.self_device_us, warm_device


def _sum(several: Iterable[Figures]) -> Figures:
    one, two, three, four = (sum(column) for column in zip(*several, (0.0, 0.0, 0.0, 0.0)))
    return one, two, three, four


def _row(name: str, figures: Figures) -> tuple[object, ...]:
    cold_host, warm_host, cold_device, warm_device = figures
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
