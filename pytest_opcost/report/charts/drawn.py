"""What all charts share: axes of one width, and rows without axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from pytest_opcost.report.look import INK, MUTED, SMALL, TEXT, WIDTH
from pytest_opcost.report.saving import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_figure(height: float, *, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of the common width, `height` in inches, with so many axes side by side."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)
    return figure, list(axes[0])


class Rows:
    """A figure of rows, the first on top, drawn in its own coordinates: 0 is its left edge, 1 its right.

    No axes: a page of 500 tests has as many of these, and axes take half of the time that one takes.
    """

    def __init__(self, count: int) -> None:
        row, margin = 0.25, 0.1  # inches
        height = count * row + 2 * margin
        self.figure = Figure(figsize=(WIDTH, height))
        self._top, self._row = 1 - margin / height, row / height

    def _middle(self, row: float) -> float:
        return self._top - (row + 0.5) * self._row

    def text(self, x: float, row: int, text: str, *, right: bool = False, quiet: bool = False) -> None:
        """A text in a row that starts, or ends, at `x`."""
        self.figure.text(
            x, self._middle(row), text, ha="right" if right else "left", va="center_baseline",
            color=MUTED if quiet else INK, fontsize=SMALL if quiet else TEXT,
        )  # fmt: skip

    def bar(self, start: float, end: float, row: int, colour: str, *, thick: float = 0.64) -> None:
        """A bar in a row."""
        corner = start, self._middle(row + thick / 2)
        self.figure.add_artist(Rectangle(corner, end - start, thick * self._row, facecolor=colour, edgecolor="none"))

    def line(self, start: tuple[float, float], end: tuple[float, float], colour: str, width: float) -> None:
        """A line from one point to another, each an `x` and a row."""
        (x, row), (to_x, to_row) = start, end
        ends = [self._middle(row), self._middle(to_row)]
        self.figure.add_artist(Line2D([x, to_x], ends, color=colour, linewidth=width))

    def point(self, x: float, row: int, colour: str) -> None:
        """A point in a row."""
        self.figure.add_artist(Line2D([x], [self._middle(row)], marker="o", color=colour, linestyle="none"))


def shortened(name: str, most: int = 34) -> str:
    """A name that fits beside a chart: without torch's own namespace, its middle left out where it is too long."""
    name = printable(name.removeprefix("aten::"))
    return name if len(name) <= most else f"{name[: most - 12]}…{name[-11:]}"
