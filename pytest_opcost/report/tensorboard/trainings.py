"""One training as TensorBoard's events: its curves, its hyper-parameters, and what its steps cost meanwhile."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING

from pytest_opcost.families import DEFAULT_RATIO
from pytest_opcost.report.gfm import plain
from pytest_opcost.report.tensorboard.costs import latest_events, top_table
from pytest_opcost.report.tensorboard.events import hyperparameters, scalar, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tensorboard.compat.proto.event_pb2 import Event

    from pytest_opcost.training import Training

_TOP = 10
#: The place in a training as a step of its own curve, since a reading has no number of steps.
_MOMENTS = {"start": 1, "middle": 2, "end": 3}


def training_events(training: Training, name: str, started: str, now: float) -> Iterator[Event]:
    """All that is known of one training; `name` is its run folder, `started` the run's start in ISO format."""
    begun = datetime.fromisoformat(started).timestamp()
    epoch_s, steps_an_epoch = training.mean_epoch_seconds, training.steps_an_epoch

    def at(step: float) -> float:
        return now if epoch_s is None else begun + step * epoch_s / steps_an_epoch

    yield from hyperparameters(_hyperparameters(training), name, begun, now)
    for step, loss, accuracy in zip(training.steps, training.losses, training.accuracies):
        yield scalar("training, by step/loss", loss, step, at(step))
        yield scalar("training, by step/accuracy", accuracy, step, at(step))
    for epoch, (loss, accuracy) in enumerate(zip(training.test_losses, training.test_accuracies), 1):
        yield scalar("test, by epoch/loss", loss, epoch, at(epoch * steps_an_epoch))
        yield scalar("test, by epoch/accuracy", accuracy, epoch, at(epoch * steps_an_epoch))
    for epoch, lasted in enumerate(training.epoch_seconds, 1):
        yield scalar("seconds, by epoch/training steps", lasted, epoch, at(epoch * steps_an_epoch))
    for moment, profile in training.costs:
        place = _MOMENTS.get(moment, len(_MOMENTS) + 1)
        yield scalar("training cost at start, middle, end/step us", profile.wall_us, place, now)
        if (ratio := profile.ratio(DEFAULT_RATIO)) is not None:
            yield scalar(f"training cost at start, middle, end/{DEFAULT_RATIO}", ratio, place, now)
        words = "\n".join([f"At the {plain(moment)} of the training", "", *top_table(profile, _TOP)])
        yield text("top operators at start, middle, end", words, place, now)
    if training.costs:
        yield from latest_events(training.costs[-1][1], training.device, _MOMENTS["end"], now)


def _hyperparameters(training: Training) -> dict[str, str | float]:
    """The recipe's, and what a configuration consists of; figures as figures, so that the view has axes for them."""
    values: dict[str, str | float] = {
        "batch size": training.batch_size,
        "device": training.environment.device_name,
        "epochs": training.epochs,
        "images": training.images,
        "loop": training.loop,
        "model": training.model,
        "torch": training.environment.torch,
    }
    return values | {name: _figure(value) for name, value in training.hyperparameters}


def _figure(value: str) -> str | float:
    try:
        number = float(value)
    except ValueError:
        return value
    return number if math.isfinite(number) else value
