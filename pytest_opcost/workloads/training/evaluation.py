"""How good a network is on images that it was not trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from pytest_opcost.workloads.models import LeNet, LeNet5

AT_ONCE = 1000
"""Images in one pass: the test batch size of PyTorch's MNIST sample."""


def evaluate(model: LeNet | LeNet5, images: Tensor, labels: Tensor) -> tuple[float, float]:
    """The mean loss an image and the accuracy, 0 to 1, of `model` on these images; all three are on one device.

    `images` are what the model takes, `labels` have shape (N,). The model is left in evaluation mode.
    """
    model.eval()
    loss = torch.zeros((), device=images.device)
    hits = torch.zeros((), dtype=torch.int64, device=images.device)
    with torch.no_grad():
        for some_images, some_labels in zip(torch.split(images, AT_ONCE), torch.split(labels, AT_ONCE)):
            scores = model(some_images)
            loss.add_(model.loss(scores, some_labels), alpha=len(some_labels))
            hits.add_((scores.argmax(1) == some_labels).sum())
    return loss.item() / len(labels), hits.item() / len(labels)
