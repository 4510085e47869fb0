"""How a figure went from commit to commit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from pytest_opcost.report.charts.drawn import new_figure
from pytest_opcost.report.look import BAD, MUTED, SERIES, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Line:
    """One baseline: its name, and its figure at some of the commits, which are told by their places on the axis.

    `moved` are the places at which the judge sees that it moved.
    """

    name: str
    places: tuple[int, ...]
    values: tuple[float, ...]
    moved: frozenset[int] = frozenset()


def course_chart(lines: Sequence[Line], commits: Sequence[str], title: str) -> Figure:
    """A line for each baseline, a step at each commit that changed it, a ring where it moved beyond noise."""
    with style():
        figure, (axes,) = new_figure(3.4, columns=1)
        for index, line in enumerate(lines):
            colour = SERIES[index % len(SERIES)]
            # A baseline holds until the next commit that changes it.
            places, values = [*line.places, len(commits) - 1], [*line.values, line.values[-1]]
            axes.step(places, values, where="post", color=colour, label=line.name)
            axes.plot(line.places, line.values, "o", color=colour)
            rings = [(place, value) for place, value in zip(line.places, line.values) if place in line.moved]
            if rings:
                axes.plot(*zip(*rings), "o", color=BAD, markersize=10, fillstyle="none")
        axes.set_ylabel(title)
        axes.set_ylim(bottom=0)
        axes.set_xlim(-0.3, max(len(commits) - 1, 1) + 0.3)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
        axes.xaxis.set_major_formatter(lambda at, _: commits[round(at)] if 0 <= round(at) < len(commits) else "")
        axes.tick_params(axis="x", labelcolor=MUTED)
        if len(lines) > 1:
            axes.legend(loc="upper left", bbox_to_anchor=(0, -0.2), borderaxespad=0)
    return figure
