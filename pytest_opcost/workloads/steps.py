"""The steps that opcost tests profile: one training step or one inference step on a fixed batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.optim import Adadelta
from torch.optim.lr_scheduler import StepLR

from pytest_opcost.workloads.models import SEED, LeNet, LeNet5

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor, nn

LEARNING_RATE = 1.0
LEARNING_RATE_DECAY = 0.7
"""From one epoch's learning rate to the next; like the rate itself, the default of PyTorch's MNIST sample."""


def recipe(model: nn.Module, *, capturable: bool = False) -> tuple[Adadelta, StepLR]:
    """The optimizer of the Lab's training, and the scheduler to step once an epoch.

    With `capturable`, for a CUDA graph, all that changes is kept on the model's device, the learning rate too.
    """
    rate: float | Tensor = LEARNING_RATE
    if capturable:
        rate = torch.tensor(LEARNING_RATE, device=next(model.parameters()).device)
    optimizer = Adadelta(model.parameters(), lr=rate, capturable=capturable)
    return optimizer, StepLR(optimizer, step_size=1, gamma=LEARNING_RATE_DECAY)


def training_step(model: LeNet | LeNet5, images: Tensor, labels: Tensor) -> Callable[[], None]:
    """A step that trains `model` once on this batch: zero_grad, forward, loss, backward, optimizer step.

    `images` are what the model takes, `labels` have shape (N,) and dtype int64; all three are on one device. The
    model keeps what it learns, so each call goes on from the one before.

    Dropout draws from torch's global generators and can be given no other. They are seeded here, once: calls of
    the newest step, with no other draws between, repeat the same losses in every run. Seeding inside the step
    would give every call the same mask, and measure the seeding along with the step.
    """
    optimizer, _ = recipe(model)
    torch.manual_seed(SEED)

    def step() -> None:
        model.train()  # in the step, since an inference step may share the model; it runs no operator
        optimizer.zero_grad()
        model.loss(model(images), labels).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        optimizer.step()

    return step


def inference_step(model: nn.Module, images: Tensor) -> Callable[[], None]:
    """A step that runs `model` forward once on `images`, in evaluation mode and without gradients."""

    def step() -> None:
        model.eval()  # in the step, since a training step may share the model; it runs no operator
        with torch.no_grad():
            model(images)

    return step
