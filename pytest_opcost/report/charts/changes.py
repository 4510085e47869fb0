"""By how much operators changed, and from which change on that would have been noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import Rectangle

from pytest_opcost.report.charts.drawn import BAD, INK, MUTED, NEUTRAL, RULE, SERIES, SMALL, rows_figure, shortened, style
from pytest_opcost.report.quantities import change_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from pytest_opcost.judge.verdict import Compared

_LEFT, _RIGHT = 0.40, 0.88


def change_chart(compared: Sequence[Compared]) -> Figure | None:
    """A point for each operator's change against the baseline, on the band within which a change goes unnoticed; points
    that lie outside are coloured: dearer, cheaper. None where nothing was compared.
    """
    if not compared:
        return None
    # Changes may be huge, and one of them must not press all others into a line: the axis ends somewhere.
    most = min(max(max(abs(one.change), one.seen_from) for one in compared), 1.0) * 1.05
    middle = (_LEFT + _RIGHT) / 2

    def place(change: float) -> float:
        return middle + max(-1.0, min(1.0, change / most)) * (_RIGHT - middle)

    with style():
        figure, axes = rows_figure(len(compared))
        axes.plot([middle, middle], [-0.5, len(compared) - 0.5], color=MUTED, linewidth=0.8, zorder=0)
        for row, one in enumerate(compared):
            low, high = place(1 / (1 + one.seen_from) - 1), place(one.seen_from)
            axes.add_patch(Rectangle((low, row - 0.3), high - low, 0.6, facecolor=RULE, edgecolor="none", zorder=-1))
            colour = NEUTRAL if one.within else BAD if one.change > 0 else SERIES[2]
            axes.plot(place(one.change), row, "o", color=colour)
            axes.text(_LEFT - 0.012, row, shortened(one.op), ha="right", va="center_baseline", color=INK)
            axes.text(
                0.998, row, change_text(one.change), ha="right", va="center_baseline", color=MUTED, fontsize=SMALL
            )
    return figure
