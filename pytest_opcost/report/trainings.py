"""Trainings -> what reports show of them: those of one model together, and what their steps cost meanwhile."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.families import DEFAULT_RATIO
from pytest_opcost.report.quantities import NONE, accuracy_text, digits, time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.training import Training


#: Hyper-parameters that have a column: without them one line tells the recipe of all trainings of a model.
_IN_THE_TABLE = frozenset({"batch size", "epochs"})


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """One training in figures: how it ended, how long it took, and its costs at the moments it was profiled."""

    training: Training
    accuracy: str
    loss: str
    seconds: str
    an_epoch: str
    costs: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class TrainingView:
    """All trainings of one model, and the recipes that they followed, each once."""

    model: str
    trainings: tuple[Training, ...]
    rows: tuple[TrainingRow, ...]
    recipes: tuple[str, ...]


def training_views(trainings: Sequence[Training]) -> tuple[TrainingView, ...]:
    """The trainings by model, in the order of device and batch size."""
    models: dict[str, list[Training]] = defaultdict(list)
    for one in sorted(trainings, key=lambda one: (one.model, one.device, one.batch_size)):
        models[one.model].append(one)
    return tuple(
        TrainingView(model, tuple(group), tuple(map(_row, group)), tuple(dict.fromkeys(map(_recipe, group))))
        for model, group in models.items()
    )


def _recipe(one: Training) -> str:
    settings = "".join(f", {name} {value}" for name, value in one.hyperparameters if name not in _IN_THE_TABLE)
    return f"Trained on {one.images:,} images and tested on {one.test_images:,} ({one.data}){settings}."


def _row(one: Training) -> TrainingRow:
    spent = one.epoch_seconds
    return TrainingRow(
        training=one,
        accuracy=accuracy_text(one.test_accuracies[-1]) if one.test_accuracies else NONE,
        loss=f"{one.test_losses[-1]:.4f}" if one.test_losses else NONE,
        seconds=time_text(sum(spent) * 1e6) if spent else NONE,
        an_epoch=NONE if one.mean_epoch_seconds is None else time_text(one.mean_epoch_seconds * 1e6),
        costs=tuple((when, time_text(cost.total_us), _ratio(cost.ratio(DEFAULT_RATIO))) for when, cost in one.costs),
    )


def _ratio(value: float | None) -> str:
    return NONE if value is None else digits(value)
