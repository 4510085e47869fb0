"""The pictures of the Markdown report: curves of trainings, bars of operators, a ratio over batch sizes.

Figures are made as objects of their own, never through pyplot, whose state belongs to the user's tests.
"""

from __future__ import annotations

import io
import math
import warnings
from typing import TYPE_CHECKING

from pytest_opcost.report.quantities import share_text, short_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.training import Training

_DPI = 110


def as_png(figure: Figure) -> bytes:
    """The figure as a PNG, the same bytes for the same figure."""
    content = io.BytesIO()
    with warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box; where warnings are errors, no report should fail for it.
        warnings.simplefilter("ignore")
        # White whatever the figure's own background is: a transparent one is black on black for some readers.
        figure.savefig(content, format="png", dpi=_DPI, facecolor="white")
    return content.getvalue()


def curves(trainings: Sequence[Training]) -> Figure:
    """Loss and accuracy, a colour for each training: the training's over epochs, and the test's at each epoch's end."""
    figure = _figure(9.0, 3.6)
    left, right = figure.subplots(1, 2)
    for index, one in enumerate(trainings):
        # Epochs, not steps: a step of batch 64 sees 64 times as many images as one of batch 1.
        steps_an_epoch = math.ceil(one.images / one.batch_size)
        epochs = [step / steps_an_epoch for step in one.steps]
        label, colour = f"{one.device}, batch {one.batch_size}", f"C{index}"
        for axes, values, tested in ((left, one.losses, one.test_losses), (right, one.accuracies, one.test_accuracies)):
            axes.plot(epochs, values, color=colour, linewidth=1, label=_literal(label))
            axes.plot(range(1, len(tested) + 1), tested, color=colour, marker="o", linestyle="--", linewidth=1)
    for axes, name in ((left, "loss"), (right, "accuracy")):
        _finish(axes, "epoch", name)
        axes.set_title(f"{name} (line: training, dots: test)", fontsize=10)
    left.set_ylim(bottom=0)
    right.legend(fontsize=8)
    return figure


def operator_bars(profile: CostProfile, top: int) -> Figure:
    """The `top` dearest operators and the rest as bars, dearest above, with time and share at their ends."""
    head, other = profile.top(top)
    ops = [*head, *([other] if other else [])]
    figure = _figure(7.5, 0.8 + 0.28 * len(ops))
    axes = figure.subplots()
    times = [profile.cost_us(op) for op in ops]
    # By place, not by name: two long names may be cut to the same.
    bars = axes.barh(range(len(ops)), times)
    axes.set_yticks(range(len(ops)), [_literal(_short(op.name)) for op in ops])
    labels = [f" {short_time(us)}, {share_text(op.share)}" for us, op in zip(times, ops)]
    axes.bar_label(bars, labels, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.25)
    _finish(axes, f"self time a step on the {profile.clock}, us", "")
    axes.grid(visible=False, axis="y")
    axes.set_axisbelow(True)
    return figure


def over_batch_size(name: str, lines: Mapping[str, Sequence[tuple[int, float]]]) -> Figure:
    """What `name` says as curves over batch sizes, each with its label: points of batch size and value."""
    figure = _figure(5.5, 3.2)
    axes = figure.subplots()
    for label, points in lines.items():
        axes.plot(*zip(*points), marker="o", label=_literal(label))
    axes.set_xscale("log", base=2)
    sizes = sorted({size for points in lines.values() for size, _ in points})
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    _finish(axes, "batch size", _literal(name))
    axes.legend(fontsize=8)
    return figure


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _finish(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=8)


def _literal(text: str) -> str:
    """A name as it is: matplotlib would read what stands between dollars as mathematics."""
    return text.replace("$", r"\$")


def _short(name: str, most: int = 48) -> str:
    return name if len(name) <= most else f"{name[: most - 3]}..."
