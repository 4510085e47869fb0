"""One training on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.quantities import accuracy_text, short_time
from pytest_opcost.report.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.training import Training


def training_lines(training: Training) -> Iterator[str]:
    yield from wrapped(f"{'interrupted' if training.interrupted else 'trained'}  {training.test}", "    ")
    done = len(training.epoch_seconds)
    whole = "s" if training.epochs > 1 else ""
    epochs = f"{f'{done} of ' if training.interrupted else ''}{training.epochs} epoch{whole}"
    parts = [f"{training.model} on {training.device}, batch {training.batch_size}, {epochs}"]
    if done:
        parts += [
            f"test accuracy {accuracy_text(training.test_accuracies[-1])}",
            f"mean test loss {training.test_losses[-1]:.4f}",
            f"{short_time(1e6 * (training.mean_epoch_seconds or 0))} an epoch",
        ]
    else:
        parts += [f"training loss {training.losses[-1]:.4f} after {training.steps[-1]:,} steps"]
    yield from wrapped(f"    {', '.join(parts)}, {training.loop}", "    ")
