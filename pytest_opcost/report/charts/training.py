"""The curves of trainings: loss and accuracy over epochs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from pytest_opcost.report.charts.drawn import new_figure
from pytest_opcost.report.look import SERIES, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from pytest_opcost.training import Training

#: More readings than this are no better seen, and each costs the page some bytes.
_MOST_POINTS = 400


def training_curves(trainings: Sequence[Training]) -> Figure:
    """Loss and accuracy side by side, a colour for each training: lines for the batches trained on, points for the test
    images after each epoch. Epochs are what different batch sizes have in common.
    """
    with style():
        figure, (loss, accuracy) = new_figure(2.9, columns=2)
        for index, one in enumerate(trainings):
            colour = SERIES[index % len(SERIES)]
            label = f"{one.device}, batch {one.batch_size}"
            every = max(1, -(-len(one.steps) // _MOST_POINTS))
            epochs = [step / one.steps_an_epoch for step in one.steps][::every]
            ends = range(1, len(one.test_losses) + 1)
            loss.plot(epochs, one.losses[::every], color=colour, alpha=0.55, linewidth=1.1)
            loss.plot(ends, one.test_losses, "o-", color=colour, label=label)
            accuracy.plot(
                epochs, [100 * value for value in one.accuracies][::every], color=colour, alpha=0.55, linewidth=1.1
            )
            accuracy.plot(ends, [100 * value for value in one.test_accuracies], "o-", color=colour)
        loss.set(xlabel="epoch", ylabel="loss")
        accuracy.set(xlabel="epoch", ylabel="accuracy, %")
        loss.set_ylim(bottom=0)
        for axes in (loss, accuracy):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7, min_n_ticks=1))
        figure.legend(loc="outside upper left", ncols=4, handlelength=1.6)
    return figure
