"""A ratio such as conv/addmm over batch size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import FuncFormatter, NullLocator

from pytest_opcost.report.charts.drawn import new_figure
from pytest_opcost.report.look import MUTED, SERIES, SMALL, style
from pytest_opcost.report.quantities import digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from pytest_opcost.results import CheckResult


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
        figure, (axes,) = new_figure(2.5)
        colours: dict[tuple[str, str], str] = {}
        several = len({device for device, _ in lines}) > 1
        for (device, form), points in lines.items():
            pair, _, phase = form.partition(" ")
            colour = colours.setdefault((device, pair), SERIES[len(colours) % len(SERIES)])
            label = f"{form}, {device}" if several else form
            places, values = sorted(points), [points[size] for size in sorted(points)]
            axes.plot(places, values, "--o" if phase else "-o", color=colour, label=label)
            axes.annotate(
                digits(values[-1]), (places[-1], values[-1]), (7, 0), textcoords="offset points", va="center",
                fontsize=SMALL, color=colour,
            )  # fmt: skip
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
        figure.legend(loc="outside upper left", ncols=2, handlelength=2.6)
    return figure
