"""The Lab's training, how fast and how well: python tests/benchmarks/training.py [--device=cuda] [--mnist=DIR]

An epoch of our loops at batch 64 beside the same network, optimizer and arithmetic fed by torchvision's per-image
transforms through a DataLoader, in turns. On a GPU also what its kernels alone take, variants of the loop that might be
faster, and the whole training, with profiles and without. Nothing is asserted; targets stand beside.

On the CPU an epoch would take minutes: a part of one is timed and the rest reckoned, so that it ends in a minute or so.
"""

from __future__ import annotations

import argparse
import statistics
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from epochs import BATCH, LoaderLoop, folder_for_torchvision, run_epoch, seconds_in_turns, step_profile, steps_an_epoch
from lab import load_line
from tabulate import tabulate
from variants import study

from pytest_opcost.measure.allocator import quiet_allocator
from pytest_opcost.workloads.mnist import Mnist, find_mnist, load_mnist
from pytest_opcost.workloads.models import LeNet, build
from pytest_opcost.workloads.training import EPOCHS, TrainingPlan, train
from pytest_opcost.workloads.training.course import TRAINING_SEED
from pytest_opcost.workloads.training.loops import EagerLoop, GraphLoop

if TYPE_CHECKING:
    from collections.abc import Callable

CPU_STEPS, CPU_TURNS, TURNS = 20, 5, 3
TIMES_FASTER, SECONDS, ACCURACY, LOSS, CPU_ACCURACY = 5.0, 7.5, 0.991, 0.03, 0.98


def compare_loops(mnist: Mnist, device: str, workers: int) -> None:
    """Our loops beside the DataLoader's, in seconds an epoch."""
    on_cpu, whole = device == "cpu", steps_an_epoch(mnist)
    steps, turns = (min(CPU_STEPS, whole), CPU_TURNS) if on_cpu else (whole, TURNS)
    data = mnist.train_images, mnist.train_labels
    loops = {} if on_cpu else {"ours, cuda graph": GraphLoop(build(LeNet, device), *data, BATCH)}
    loops |= {"ours, eager": EagerLoop(build(LeNet, device), *data)}
    runs: dict[str, Callable[[], object]] = {
        name: partial(run_epoch, loop, mnist, steps) for name, loop in loops.items()
    }
    loader_name = f"DataLoader, {workers} worker{'' if workers == 1 else 's'}"
    with folder_for_torchvision(mnist) as root:
        runs[loader_name] = partial(LoaderLoop(root, device, workers).run, steps)
        found = {name: seconds * whole / steps for name, seconds in seconds_in_turns(runs, device, turns).items()}
    ours = next(iter(loops))
    if not on_cpu:
        # One after another: what the graph runs side by side takes longer, kernel by kernel.
        for name, loop in (loops | {ours: GraphLoop(build(LeNet, device), *data, BATCH, overlapped=False)}).items():
            kernels = whole * step_profile(loop, mnist, device).total_device_us / 1e6
            found[f"kernels alone of {name}"] = kernels
    theirs = found[loader_name]
    rows = [(name, seconds, theirs / seconds) for name, seconds in found.items()]
    print(tabulate(rows, ("loop", "s an epoch", "times as fast"), floatfmt=".3f"))
    if steps < whole:
        print(f"Timed: {turns} times {steps} of an epoch's {whole} steps, in turns; the rest is reckoned.")
    target = 1.0 if on_cpu else TIMES_FASTER
    met = "met" if theirs / found[ours] >= target else "NOT met"
    print(f"Target: {ours} {target:g} times as fast as the DataLoader: {met} ({theirs / found[ours]:.2f}).")
    if not on_cpu:
        kernels = found[f"kernels alone of {ours}"]
        print(f"One after another the kernels alone take {100 * kernels / found[ours]:.0f} % of {ours}.")
    print()


def whole_training(mnist: Mnist, device: str, epochs: int) -> None:
    """The training as the fixture runs it; on a GPU again without profiles, and eagerly."""
    kinds: dict[str, dict[str, bool]] = {"with profiles": {}}
    if device != "cpu":
        kinds |= {"without profiles": {"costs": False}, "eager": {"costs": False, "graph": False}}
    rows = [_trained(mnist, device, epochs, name, **kind) for name, kind in kinds.items()]
    columns = ("training", "loop", "epochs", "s of steps", "median epoch s", "s in all", "accuracy", "loss")
    print(tabulate(rows, columns, floatfmt=".4f"))
    if device == "cpu":
        print(f"Target: {100 * CPU_ACCURACY:g} % or more after 1 epoch, on the full data set.")
    else:
        print(
            f"Targets on an H100 or H200: {EPOCHS} epochs in {SECONDS} s, start-up aside; {100 * ACCURACY:g} % or more;"
            f" a loss of {LOSS:g} or less; epochs take the same with profiles and without."
        )
    print("In all: tests and, where there are any, profiles in between included; start-up left out.")


def seeds(mnist: Mnist, device: str, epochs: int, count: int) -> None:
    """What other weights, masks and orders of the images lead to, and what the same ones do when trained again."""
    for name, several in ((f"{count} seeds", range(1, count + 1)), ("one seed, 4 times", [TRAINING_SEED] * 4)):
        ends = [_end(mnist, TrainingPlan("seeds", LeNet, device, BATCH, epochs, costs=False, seed=n)) for n in several]
        (accuracies, losses) = zip(*ends)
        print(
            f"{name}: accuracy {min(accuracies):.2f} to {max(accuracies):.2f} %, median "
            f"{statistics.median(accuracies):.2f}; loss {min(losses):.4f} to {max(losses):.4f}, median "
            f"{statistics.median(losses):.4f}."
        )


def _end(mnist: Mnist, plan: TrainingPlan) -> tuple[float, float]:
    """Test accuracy in per cent, and mean test loss, of the last epoch."""
    one = train(plan, mnist, lambda _: None)
    return 100 * one.test_accuracies[-1], one.test_losses[-1]


def _trained(mnist: Mnist, device: str, epochs: int, name: str, **more: Any) -> tuple[object, ...]:
    plan = TrainingPlan("benchmark", LeNet, device, BATCH, epochs, **more)
    read: list[float] = []
    one = train(plan, mnist, lambda _: None, lambda *_: read.append(time.perf_counter()))
    # From the first reading to the last, and as much for the first as for any other: start-up lies before it.
    in_all = (read[-1] - read[0]) * len(read) / max(len(read) - 1, 1)
    seconds, middle = sum(one.epoch_seconds), statistics.median(one.epoch_seconds)
    return name, one.loop, epochs, seconds, middle, in_all, one.test_accuracies[-1], one.test_losses[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description="The Lab's training, how fast and how well.")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: cpu)")
    parser.add_argument("--mnist", metavar="DIR", help="folder of MNIST's files, or `sample` (default: a download)")
    parser.add_argument("--epochs", type=int, metavar="N", help="of the whole training (default: 14; on a CPU none)")
    parser.add_argument("--workers", type=int, metavar="N", help="of the DataLoader (default: 1; on a CPU none)")
    parser.add_argument(
        "--seeds", type=int, metavar="N", help="only the whole training, from so many seeds, and from one 4 times"
    )
    arguments = parser.parse_args()
    device, on_cpu = arguments.device, arguments.device == "cpu"
    torch.set_num_threads(1)
    quiet_allocator()
    mnist = load_mnist(find_mnist(arguments.mnist, Path.home() / ".cache" / "pytest-opcost" / "mnist"), device)
    name = "1 thread" if on_cpu else torch.cuda.get_device_name(device)
    print(f"{mnist.source.describe()}; {device} ({name}), torch {torch.__version__}, batch {BATCH}")
    print(f"Before: {load_line()}\n")
    if arguments.seeds:
        seeds(mnist, device, arguments.epochs or EPOCHS, arguments.seeds)
        return
    compare_loops(mnist, device, int(not on_cpu) if arguments.workers is None else arguments.workers)
    if not on_cpu:
        study(mnist, device)
    epochs = (0 if on_cpu else EPOCHS) if arguments.epochs is None else arguments.epochs
    if epochs:
        whole_training(mnist, device, epochs)
    print(f"After: {load_line()}")


if __name__ == "__main__":
    main()
