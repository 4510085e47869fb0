"""By how much operators changed, and how much of that may be noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.charts.drawn import Rows, shortened
from pytest_opcost.report.look import BAD, MUTED, NEUTRAL, RULE, SERIES, style
from pytest_opcost.report.quantities import change_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from pytest_opcost.judge.verdict import Compared

_LEFT, _RIGHT = 0.40, 0.88


def change_chart(compared: Sequence[Compared]) -> Figure | None:
    """A point for each operator's change against the baseline, on the band within which that may be noise; points
    outside are coloured: dearer, cheaper. None where nothing was compared.
    """
    if not compared:
        return None
    # Changes may be huge, and one of them must not press all others into a line: the axis ends somewhere.
    most = min(max(max(abs(one.own), one.band) for one in compared), 1.0) * 1.05
    middle = (_LEFT + _RIGHT) / 2

    def place(change: float) -> float:
        return middle + max(-1.0, min(1.0, change / most)) * (_RIGHT - middle)

    with style():
        chart = Rows(len(compared))
        for row, one in enumerate(compared):
            chart.bar(place(1 / (1 + one.band) - 1), place(one.band), row, RULE)
        chart.line((middle, -0.5), (middle, len(compared) - 0.5), MUTED, 0.8)
        for row, one in enumerate(compared):
            chart.point(place(one.own), row, NEUTRAL if one.within else BAD if one.own > 0 else SERIES[2])
            chart.text(_LEFT - 0.012, row, shortened(one.op), right=True)
            chart.text(0.998, row, change_text(one.own), right=True, quiet=True)
    return chart.figure
