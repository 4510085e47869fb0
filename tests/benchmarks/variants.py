"""What might make the graph of a training step faster: libraries' switches, the layout of images, the order of updates.

An optimizer without foreach is none of them: Adadelta reads its learning rate from the device there, which no capture
allows.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from epochs import BATCH, run_epoch, seconds_in_turns, step_profile, steps_an_epoch
from tabulate import tabulate

from pytest_opcost.workloads.models import LeNet, build
from pytest_opcost.workloads.training.loops import GraphLoop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.workloads.mnist import Mnist

VARIANTS: dict[str, frozenset[str]] = {
    "as it is": frozenset(),
    "cudnn.benchmark": frozenset({"benchmark"}),
    "cuDNN as torch sets it, not deterministic": frozenset({"varying"}),
    "all updates after the backward pass": frozenset({"after"}),
    "TF32 in convolutions alone": frozenset({"no_products"}),
    "TF32 off": frozenset({"no_products", "no_tf32"}),
    "channels_last": frozenset({"channels_last"}),
    "benchmark, channels_last": frozenset({"benchmark", "channels_last"}),
}


def study(mnist: Mnist, device: str) -> None:
    """Print seconds an epoch of each variant, and the kernels of the first and the fastest."""
    rows: list[tuple[object, ...]] = []
    profiles: dict[str, tuple[float, CostProfile]] = {}
    for name, switches in VARIANTS.items():
        with _switched(switches):
            try:
                seconds, profile = _measured(mnist, device, switches)
            except Exception as error:  # a variant that this torch does not know is none
                rows.append((name, None, None, str(error).splitlines()[0][:60]))
                continue
        profiles[name] = seconds, profile
        rows.append((name, seconds, steps_an_epoch(mnist) * profile.total_device_us / 1e6, ""))
    print(tabulate(rows, ("variant of the graph", "s an epoch", "kernels, added up", ""), floatfmt=".3f"), "\n")
    fastest = min(profiles, key=lambda name: profiles[name][0])
    for name in dict.fromkeys((next(iter(profiles)), fastest)):
        print(f"Kernels, {name}:")
        dearest, _ = profiles[name][1].top(15)
        print(
            tabulate([(op.name[:80], op.calls, op.self_device_us) for op in dearest], ("", "calls", "us a step")), "\n"
        )


def _measured(mnist: Mnist, device: str, switches: frozenset[str]) -> tuple[float, CostProfile]:
    model: Any = build(LeNet, device)
    images = mnist.train_images
    if "channels_last" in switches:
        model, images = (one.to(memory_format=torch.channels_last) for one in (model, images))
    loop = GraphLoop(
        model,
        images,
        mnist.train_labels,
        BATCH,
        deterministic="varying" not in switches,
        tf32_products="no_products" not in switches,
        overlapped="after" not in switches,
    )
    runs = {"": lambda: run_epoch(loop, mnist, steps_an_epoch(mnist))}
    return seconds_in_turns(runs, device, 3)[""], step_profile(loop, mnist, device)


@contextmanager
def _switched(switches: frozenset[str]) -> Iterator[None]:
    """Torch's switches as the variant has them, and back."""
    cudnn = torch.backends.cudnn
    before = cudnn.benchmark, cudnn.allow_tf32
    cudnn.benchmark = "benchmark" in switches
    cudnn.allow_tf32 = "no_tf32" not in switches
    try:
        yield
    finally:
        cudnn.benchmark, cudnn.allow_tf32 = before
