"""The cold first step beside a warm one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_opcost.report.charts.drawn import Rows, shortened
from pytest_opcost.report.look import MUTED, RULE, SERIES, style
from pytest_opcost.report.quantities import digits, time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

_LEFT, _RIGHT = 0.27, 0.63


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
        chart = Rows(len(pairs))
        for row, (name, cold, warm) in enumerate(pairs):
            chart.text(_LEFT - 0.04, row, shortened(name, 22), right=True)
            chart.line((_LEFT, row), (_RIGHT, row), RULE, 0.6)
            chart.line((place(warm), row), (place(cold), row), MUTED, 1.4)
            chart.point(place(warm), row, SERIES[0])
            chart.point(place(cold), row, SERIES[1])
            told = f"{time_text(cold)} → {time_text(warm)}, {digits(cold / warm, count=2)}×"  # noqa: RUF001 - a times sign
            chart.text(_RIGHT + 0.04, row, told, quiet=True)
    return chart.figure
