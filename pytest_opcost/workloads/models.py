"""The two networks of the Lab, and building one so that every run starts from the same weights."""

from __future__ import annotations

from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED = 1
"""The default seed of PyTorch's MNIST sample."""

Model = TypeVar("Model", bound=nn.Module)


class LeNet(nn.Module):
    """The network of PyTorch's MNIST sample (`mnist/main.py` of pytorch/examples).

    Takes normalised grey images of shape (N, 1, 28, 28); returns log-probabilities of shape (N, 10).
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.dropout1 = nn.Dropout(0.25)
        self.dropout2 = nn.Dropout(0.5)
        self.fc1 = nn.Linear(64 * 12 * 12, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, images: Tensor) -> Tensor:
        out = F.relu(self.conv1(images))
        out = F.relu(self.conv2(out))
        out = self.dropout1(F.max_pool2d(out, 2))
        out = F.relu(self.fc1(torch.flatten(out, 1)))
        out = self.fc2(self.dropout2(out))
        return F.log_softmax(out, dim=1)

    def loss(self, log_probabilities: Tensor, labels: Tensor) -> Tensor:
        """The mean negative log-likelihood (a scalar) of `labels`, of shape (N,)."""
        return F.nll_loss(log_probabilities, labels)


class LeNet5(nn.Module):
    """The LeNet of the textbook's listing (AI-System, section 1.4.1), with its two slips repaired.

    The listing defines `fc2` twice, so that its 120-84 layer is lost, and calls an `fc3` that it never defines.
    Here `fc2` is 120-84 and `fc3` is 84-10. Its loss is mended too: `nll_loss` asks for log-probabilities, and
    this network returns none.

    Takes colour images of shape (N, 3, 32, 32); returns logits of shape (N, 10).
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, images: Tensor) -> Tensor:
        out = F.max_pool2d(F.relu(self.conv1(images)), 2)
        out = F.max_pool2d(F.relu(self.conv2(out)), 2)
        out = out.view(out.size(0), -1)
        out = F.relu(self.fc1(out))
        out = F.relu(self.fc2(out))
        logits: Tensor = self.fc3(out)
        return logits

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The mean cross-entropy (a scalar) of `labels`, of shape (N,)."""
        return F.cross_entropy(logits, labels)


def build(model_class: type[Model], device: torch.device | str, seed: int = SEED) -> Model:
    """A new model on `device`, with the same weights in every run and on every device.

    The weights are drawn on the CPU from `seed`; the caller's random numbers, on any device, go on undisturbed.
    """
    # torch.manual_seed would reseed the accelerators too, which this fork does not restore. The device context
    # keeps the drawing on the CPU where the caller has set another default device.
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.default_generator.manual_seed(seed)
        model = model_class()
    return model.to(device)
