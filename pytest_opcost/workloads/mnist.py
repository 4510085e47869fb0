"""MNIST as tensors on a device, read with torchvision and normalised as PyTorch's MNIST sample does."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor
from torchvision.datasets.mnist import (
    read_image_file,
    read_label_file,
)

from pytest_opcost.errors import OptionError
from pytest_opcost.workloads.idx import plain_file
from pytest_opcost.workloads.source import MnistSource, Origin, find_mnist

__all__ = ["Mnist", "MnistSource", "Origin", "find_mnist", "lenet5_images", "load_mnist"]

MEAN = 0.1307
STD = 0.3081
"""Of the pixels of the 60,000 training images, on a scale of 0 to 1: the figures of PyTorch's MNIST sample."""

_CLASSES = 10


@dataclass(frozen=True, slots=True, eq=False)
class Mnist:
    """A data set on one device. Images: (N, 1, 28, 28), float32, normalised. Labels: (N,), int64, 0 to 9."""

    source: MnistSource
    train_images: Tensor
    train_labels: Tensor
    test_images: Tensor
    test_labels: Tensor

    def batch(self, size: int) -> tuple[Tensor, Tensor]:
        """The first `size` training images and their labels, from the start again where the set is smaller.

        Both are contiguous copies on the set's device, so that no step can change the set. Raises OptionError for a
        size below 1.
        """
        if size < 1:
            raise OptionError(f"Found the batch size {size}. Expected a whole number, 1 or more.")
        rows = torch.arange(size, device=self.train_images.device) % len(self.train_images)
        return self.train_images[rows], self.train_labels[rows]


def load_mnist(source: MnistSource, device: torch.device | str) -> Mnist:
    """The whole data set on `device`. Writes nothing into the source's folder.

    Raises DataError, naming the file, where one is damaged or the images and labels do not belong together.
    """
    with tempfile.TemporaryDirectory(prefix="opcost-mnist-") as scratch:
        train_images, train_labels = _read_part(source, "train", Path(scratch))
        test_images, test_labels = _read_part(source, "t10k", Path(scratch))
    return Mnist(
        source,
        train_images=train_images.to(device),
        train_labels=train_labels.to(device),
        test_images=test_images.to(device),
        test_labels=test_labels.to(device),
    )


def lenet5_images(images: Tensor) -> Tensor:
    """Normalised (N, 1, 28, 28) images as the (N, 3, 32, 32) ones that LeNet5 takes, contiguous.

    Two pixels of background on each side, and the grey channel three times.
    """
    background = _normalised(torch.zeros(1, dtype=torch.uint8)).item()
    return F.pad(images, (2, 2, 2, 2), value=background).repeat(1, 3, 1, 1)


def _read_part(source: MnistSource, part: str, scratch: Path) -> tuple[Tensor, Tensor]:
    images_path, labels_path = (source.path(f"{part}-{kind}-ubyte") for kind in ("images-idx3", "labels-idx1"))
    with source.blaming(images_path):
        pixels: Tensor = read_image_file(str(plain_file(images_path, scratch)))
    with source.blaming(labels_path):
        labels: Tensor = read_label_file(str(plain_file(labels_path, scratch)))
        if len(labels) != len(pixels):
            raise ValueError(f"found {len(labels):,} labels for the {len(pixels):,} images beside it")
        if (highest := int(labels.max())) >= _CLASSES:
            raise ValueError(f"found the label {highest}, expected 0 to {_CLASSES - 1}")
    return _normalised(pixels).unsqueeze(1), labels


def _normalised(pixels: Tensor) -> Tensor:
    """On the CPU whatever the device, so that every device is given the very same numbers."""
    return pixels.to(torch.float32).div_(255).sub_(MEAN).div_(STD)
