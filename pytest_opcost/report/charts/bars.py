"""The dearest operators of one step as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.charts.drawn import Rows, shortened
from pytest_opcost.report.look import NEUTRAL, SERIES, style
from pytest_opcost.report.operators import ranked
from pytest_opcost.report.quantities import share_text, time_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pytest_opcost.costs import CostProfile

#: The two kinds of operator that the Lab sets against each other.
COLOURS = {"conv": SERIES[0], "addmm": SERIES[1]}
_LEFT, _RIGHT = 0.40, 0.80


def operator_bars(profile: CostProfile, clock: str, top: int = 10) -> Figure:
    """The `top` dearest operators by self time on a clock (`host`, `device`), and the others in one bar.

    Convolutions and matrix products have colours of their own.
    """
    rows = ranked(profile, clock, top)
    most = max((row.us for row in rows), default=0.0) or 1.0
    with style():
        chart = Rows(max(len(rows), 1))
        for place, row in enumerate(rows):
            end = _LEFT + row.us / most * (_RIGHT - _LEFT)
            chart.bar(_LEFT, end, place, COLOURS.get(row.family, NEUTRAL))
            chart.text(_LEFT - 0.012, place, shortened(row.name), right=True)
            chart.text(end + 0.012, place, f"{time_text(row.us)}, {share_text(row.share)}", quiet=True)
    return chart.figure
