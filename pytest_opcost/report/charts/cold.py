"""The cold first step beside a warm one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_opcost.report.charts.drawn import INK, MUTED, RULE, SERIES, SMALL, rows_figure, shortened, style
from pytest_opcost.report.quantities import digits, time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

_LEFT, _RIGHT = 0.30, 0.74


def cold_chart(pairs: Sequence[tuple[str, float, float]]) -> Figure | None:
    """Pairs of points on a logarithmic axis: for each name the cold and the warm time, in microseconds.

    None where no pair has both.
    """
    pairs = [pair for pair in pairs if min(pair[1:]) > 0]
    if not pairs:
        return None
    logs = [math.log(us) for _, *both in pairs for us in both]
    low, width = min(logs), (max(logs) - min(logs)) or 1.0

    def place(us: float) -> float:
        return _LEFT + (math.log(us) - low) / width * (_RIGHT - _LEFT)

    with style():
        figure, axes = rows_figure(len(pairs))
        for row, (name, cold, warm) in enumerate(pairs):
            axes.text(_LEFT - 0.025, row, shortened(name, 26), ha="right", va="center_baseline", color=INK)
            axes.plot([_LEFT, _RIGHT], [row, row], color=RULE, linewidth=0.6, zorder=0)
            axes.plot([place(warm), place(cold)], [row, row], color=MUTED, linewidth=1.4, zorder=1)
            axes.plot(place(warm), row, "o", color=SERIES[0])
            axes.plot(place(cold), row, "o", color=SERIES[1])
            told = f"{time_text(cold)} → {time_text(warm)}, {digits(cold / warm, count=2)}×"  # noqa: RUF001 - a times sign
            axes.text(_RIGHT + 0.025, row, told, ha="left", va="center_baseline", color=MUTED, fontsize=SMALL)
    return figure
