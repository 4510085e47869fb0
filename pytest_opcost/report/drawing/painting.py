"""Boxes and arrows in a matplotlib figure without pyplot; all lengths are inches, from the upper left corner.

The background is transparent. Boxes bring their own background, so that they can be read on white and on black; what
stands outside of them is grey, which `as_svg` leaves to the page.
"""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from pytest_opcost.report.look import OUTSIDE
from pytest_opcost.report.quantities import short_time
from pytest_opcost.report.saving import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from pytest_opcost.report.drawing.diagram import Box

BOX_HEIGHT = 0.46
_ARROW, _FRAME = "#8b929c", "#98a1ae"
#: Fills by share of the step, on a scale of square roots, so that one per cent is told from none.
_FILLS = ((0.0, (238, 242, 247)), (0.3, (255, 224, 168)), (0.6, (247, 138, 60)), (1.0, (176, 30, 70)))
_TITLE_POINTS, _DETAIL_POINTS, _HEADING_POINTS = 9.0, 8.0, 10.5
#: Names of operators and modules are nobody's TeX, whatever the user has set.
_AS_IT_IS: dict[str, Any] = {"family": ["DejaVu Sans"], "parse_math": False, "usetex": False}
#: Average characters of both lines, in a font that a browser may use instead, which may be wider.
_TITLE_CHARACTER, _DETAIL_CHARACTER = 0.085, 0.070
MARGIN = 0.15


def width_for(boxes: Sequence[Box], total_us: float) -> float:
    """How wide boxes must be that hold their texts."""
    titles = (len(box.title) * _TITLE_CHARACTER for box in boxes)
    details = (len(_detail(box, total_us)) * _DETAIL_CHARACTER for box in boxes)
    return max((1.0, *titles, *details)) + 0.2


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """A transparent figure with axes that nothing shows of."""
    figure = Figure(figsize=(width, height))
    figure.patch.set_alpha(0.0)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0.0, width)
    axes.set_ylim(height, 0.0)
    axes.set_axis_off()
    return figure, axes


def heading(axes: Axes, x: float, y: float, text: str, *, small: bool = False, centred: bool = False) -> None:
    """A line of text outside of the boxes."""
    points, across = _DETAIL_POINTS if small else _HEADING_POINTS, "center" if centred else "left"
    weight = "normal" if small else "bold"
    axes.text(x, y, printable(text), fontsize=points, color=OUTSIDE, weight=weight, ha=across, va="center", **_AS_IT_IS)


def paint_box(axes: Axes, x: float, y: float, width: float, box: Box, total_us: float) -> None:
    """A box around this centre, filled by its share."""
    share = (box.cost_us or 0.0) / total_us if total_us > 0 else 0.0
    fill = _fill(share) if box.cost_us is not None else (255, 255, 255)
    red, green, blue = (part / 255 for part in fill)
    text = "#101418" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "#ffffff"
    patch = FancyBboxPatch(
        (x - width / 2, y - BOX_HEIGHT / 2), width, BOX_HEIGHT,
        boxstyle="round,pad=0,rounding_size=0.06", facecolor=(red, green, blue), edgecolor=_FRAME, linewidth=0.8,
        linestyle="-" if box.cost_us is not None else (0, (3, 2)), zorder=2,
    )  # fmt: skip
    axes.add_patch(patch)
    lines = ((-0.1, box.title, _TITLE_POINTS, "bold"), (0.11, _detail(box, total_us), _DETAIL_POINTS, "normal"))
    for down, line, points, weight in lines:
        place: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 3}
        axes.text(x, y + down, printable(line), fontsize=points, color=text, weight=weight, **place, **_AS_IT_IS)


def paint_arrow(
    axes: Axes, points: Sequence[tuple[float, float]], *, thin: bool = False, sideways: bool = False
) -> None:
    """An arrow through these points, which leaves and arrives straight down, or `sideways`."""
    path, codes = [points[0]], [Path.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        near, far = (
            (((x0 + x1) / 2, y0), ((x0 + x1) / 2, y1)) if sideways else ((x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2))
        )
        path += [near, far, (x1, y1)]
        codes += [Path.CURVE4] * 3
    axes.add_patch(
        FancyArrowPatch(
            path=Path(path, codes), arrowstyle="-|>", mutation_scale=6 if thin else 8, linewidth=0.6 if thin else 1.0,
            color=_ARROW, alpha=0.6 if thin else 1.0, fill=True, joinstyle="miter", capstyle="butt", zorder=1,
        )
    )  # fmt: skip


def with_share(us: float, total_us: float) -> str:
    """`4.46 ms, 21 %` of a whole."""
    percent = 100 * us / total_us if total_us > 0 else 0.0
    told = f"{percent:.0f}" if percent >= 10 else "<0.1" if 0 < percent < 0.05 else f"{percent:.1f}"
    return f"{short_time(us, 'µs')}, {told} %"


def _detail(box: Box, total_us: float) -> str:
    cost = "" if box.cost_us is None else with_share(box.cost_us, total_us)
    return "   ".join(part for part in (box.detail, cost) if part)


def _fill(share: float) -> tuple[float, float, float]:
    at = sqrt(min(max(share, 0.0), 1.0))
    for (low, one), (high, two) in pairwise(_FILLS):
        if at <= high:
            part = (at - low) / (high - low)
            red, green, blue = (a + (b - a) * part for a, b in zip(one, two))
            return red, green, blue
    return _FILLS[-1][1]
