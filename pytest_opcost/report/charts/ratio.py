"""A ratio such as conv/addmm over batch size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import FuncFormatter, NullLocator

from pytest_opcost.report.charts.drawn import new_figure
from pytest_opcost.report.look import MUTED, SERIES, SMALL, style
from pytest_opcost.report.quantities import digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_opcost.results import CheckResult

_HEIGHT = 2.5
#: How far apart two figures have to be to be read, in points, and what a chart's curves have of its height.
_LINE, _OF_CURVES = 9.0, 0.6


def ratio_curve(members: Sequence[CheckResult]) -> Figure | None:
    """Every declared ratio of one test over its batch sizes, a colour for each ratio and device, a form over the
    forward phase alone dashed; None where there are fewer than two batch sizes.
    """
    lines: dict[tuple[str, str], dict[int, float]] = {}
    for one in members:
        for form, value in one.ratios.items():
            if one.subject.batch_size is not None:
                lines.setdefault((one.subject.device, form), {})[one.subject.batch_size] = value
    sizes = sorted({size for points in lines.values() for size in points})
    if len(sizes) < 2:
        return None
    with style():
        figure, (axes,) = new_figure(_HEIGHT)
        colours: dict[tuple[str, str], str] = {}
        ends: list[tuple[int, float, str]] = []
        several = len({device for device, _ in lines}) > 1
        for (device, form), points in lines.items():
            pair, _, phase = form.partition(" ")
            colour = colours.setdefault((device, pair), SERIES[len(colours) % len(SERIES)])
            label = f"{form}, {device}" if several else form
            places, values = sorted(points), [points[size] for size in sorted(points)]
            axes.plot(places, values, "--o" if phase else "-o", color=colour, label=label)
            ends.append((places[-1], values[-1], colour))
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.margins(x=0.09, y=0.14)
        axes.set_xlabel("batch size")
        # Equal costs: whoever is above, the first side of the ratio is the dearer one.
        if min(axes.get_ylim()) < 1 < max(axes.get_ylim()):
            axes.axhline(1, color=MUTED, linewidth=0.8, linestyle=":")
        axes.grid(visible=False, axis="x")
        _tell_ends(axes, ends)
        figure.legend(loc="outside upper left", ncols=2, handlelength=2.6)
    return figure


def _tell_ends(axes: Axes, ends: Sequence[tuple[int, float, str]]) -> None:
    """The last value of each curve, at its end; those that would lie over each other one above the other."""
    low, high = axes.get_ylim()
    a_point = (high - low) / (_HEIGHT * 72 * _OF_CURVES)
    above: dict[int, float] = {}
    for size, value, colour in sorted(ends, key=lambda end: end[1]):
        place = above[size] = max(value / a_point, above.get(size, float("-inf")) + _LINE)
        axes.annotate(
            digits(value), (size, value), (7, place - value / a_point), textcoords="offset points", va="center",
            fontsize=SMALL, color=colour,
        )  # fmt: skip
