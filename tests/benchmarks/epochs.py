"""Epochs of the Lab's training to be timed: fed from the device, and image by image through a DataLoader."""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torchvision
from torchvision import transforms

from pytest_opcost.measure import Plan, measure
from pytest_opcost.measure.devices import find_device
from pytest_opcost.workloads.idx import FILE_NAMES, plain_file
from pytest_opcost.workloads.mnist import MEAN, STD, Mnist
from pytest_opcost.workloads.models import LeNet, build
from pytest_opcost.workloads.steps import recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.workloads.training.loops import EagerLoop

BATCH = 64
#: Steps between two readings of the curves: a twentieth of an epoch of the full data set.
READING = 47


def steps_an_epoch(mnist: Mnist) -> int:
    return -(-len(mnist.train_labels) // BATCH)


def run_epoch(loop: EagerLoop, mnist: Mnist, steps: int) -> None:
    """At most `steps` steps of an epoch, shuffled and read as in a training."""
    rows = torch.randperm(len(mnist.train_labels), device=mnist.train_labels.device)[: BATCH * steps]
    for some in torch.split(rows, BATCH * READING):
        loop.run(torch.split(some, BATCH))
        loop.read()


@contextmanager
def folder_for_torchvision(mnist: Mnist) -> Iterator[Path]:
    """The same files, unpacked where torchvision looks for them."""
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as scratch:
        raw = Path(root, "MNIST", "raw")
        raw.mkdir(parents=True)
        for name in FILE_NAMES:
            (raw / name).symlink_to(plain_file(mnist.source.path(name), Path(scratch)).resolve())
        yield Path(root)


class LoaderLoop:
    """The loop of PyTorch's MNIST sample: each image is transformed on its own, each batch sent to the device."""

    def __init__(self, root: Path, device: str, workers: int) -> None:
        steps = transforms.Compose([transforms.ToTensor(), transforms.Normalize((MEAN,), (STD,))])
        images = torchvision.datasets.MNIST(str(root), train=True, transform=steps)
        pinned, kept = device != "cpu", workers > 0
        self._loader = torch.utils.data.DataLoader(
            images, BATCH, shuffle=True, num_workers=workers, pin_memory=pinned, persistent_workers=kept
        )
        self._device, self._model = device, build(LeNet, device)
        self._optimizer, _ = recipe(self._model)

    def run(self, steps: int) -> None:
        self._model.train()
        for images, labels in itertools.islice(self._loader, steps):
            images, labels = images.to(self._device), labels.to(self._device)
            self._optimizer.zero_grad()
            self._model.loss(self._model(images), labels).backward()
            self._optimizer.step()


def seconds_in_turns(runs: Mapping[str, Callable[[], object]], device: str, repeats: int) -> dict[str, float]:
    """The median of several turns of each, after one that does not count."""
    synchronize = find_device(device).synchronize
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(1 + repeats):
        for name, run in runs.items():
            synchronize()
            start = time.perf_counter()
            run()
            synchronize()
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds[1:]) for name, seconds in taken.items()}


def step_profile(loop: EagerLoop, mnist: Mnist, device: str) -> CostProfile:
    """The cost of one step of a loop, gathering and adding up included."""
    rows = torch.arange(BATCH, device=mnist.train_labels.device)
    return measure(lambda: loop.run([rows]), Plan(device, exact=False))
