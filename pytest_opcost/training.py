"""The course of one training, as a record: its curves, its times, and what its steps cost meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile, Environment


@dataclass(frozen=True, slots=True, repr=False)
class Training:
    """One training of one network.

    `steps` are the numbers of training steps (from 1) at which the curves were read; `losses` and `accuracies` are the
    training's, of the batches since the reading before, one a reading. `test_losses`, `test_accuracies` and
    `epoch_seconds` (of the training steps alone) have one entry for each epoch that was completed. Losses are mean
    negative log-likelihoods an image, accuracies lie between 0 and 1. `loop` is how steps were run: `eager`,
    `cuda graph`, or `eager` and in brackets why there was no graph. `costs` are profiles of the eager step at the
    training's `start`, `middle` and `end`. One that was `interrupted` has a reading, but perhaps no epoch and not all
    costs.
    """

    test: str
    model: str
    device: str
    batch_size: int
    epochs: int
    images: int
    test_images: int
    environment: Environment
    data: str
    loop: str = "eager"
    hyperparameters: tuple[tuple[str, str], ...] = ()
    steps: tuple[int, ...] = ()
    losses: tuple[float, ...] = ()
    accuracies: tuple[float, ...] = ()
    test_losses: tuple[float, ...] = ()
    test_accuracies: tuple[float, ...] = ()
    epoch_seconds: tuple[float, ...] = ()
    costs: tuple[tuple[str, CostProfile], ...] = ()
    interrupted: bool = False

    @property
    def steps_an_epoch(self) -> int:
        """Batches in an epoch, the last of which may be smaller."""
        return max(1, -(-self.images // max(self.batch_size, 1)))

    @property
    def mean_epoch_seconds(self) -> float | None:
        """Of the epochs that were completed; None where none was."""
        return sum(self.epoch_seconds) / len(self.epoch_seconds) if self.epoch_seconds else None

    def __repr__(self) -> str:
        """Short, since pytest shows it beside a failed assertion; the profiles alone are thousands of lines."""
        reached = f", {self.test_accuracies[-1]:.2%} of the test images" if self.test_accuracies else ""
        return f"<Training of {self.model} on {self.device}, batch {self.batch_size}, {self.epochs} epochs{reached}>"
