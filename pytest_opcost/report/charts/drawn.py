"""What all charts share: their colours and axes, and how a figure becomes SVG for a page or PNG for a document."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from matplotlib.axes import Axes

#: Colours, and the style sheet's name of each: in a page they follow its theme, elsewhere they are as they stand here.
INK, MUTED, RULE, NEUTRAL, BAD = "#24292f", "#6a737d", "#dfe2e6", "#a3afbb", "#b3261e"
SERIES = ("#2f6fab", "#c2681f", "#2e8b57", "#7d5ba6", "#1a8a94", "#b8405e")
_VARIABLES = {INK: "ink", MUTED: "muted", RULE: "rule", NEUTRAL: "neutral", BAD: "bad"} | {
    colour: f"series-{index}" for index, colour in enumerate(SERIES, 1)
}
#: Points of text; a figure of 6.2 inches is 446 points wide.
TEXT, SMALL, WIDTH = 10.0, 9.0, 6.2
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "pytest-opcost",  # the same ids in every run
    "font.family": "sans-serif",
    "font.size": TEXT,
    "text.parse_math": False,  # names are names, whatever dollar signs are in them
    "axes.unicode_minus": True,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": RULE,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "axes.labelsize": SMALL,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": SMALL,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
}


def style() -> AbstractContextManager[None]:
    """The charts' look, to be in force while one is made."""
    return mpl.rc_context(_STYLE)


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
    name = "".join(one if one.isprintable() else "?" for one in name.removeprefix("aten::"))
    return name if len(name) <= most else f"{name[: most - 12]}…{name[-11:]}"


def as_svg(figure: Figure, title: str = "", description: str = "") -> str:
    """The figure as an `<svg>` element to stand in a page: transparent, its text as text, named for who cannot see it.

    The same figure is the same text in every run. Colours are the page's variables, with their own as a fallback.
    """
    text = io.StringIO()
    with style(), _any_alphabet():
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    # A rule for "*" would hold for the whole page.
    svg = re.sub(r"<defs>\s*<style type=\"text/css\">.*?</style>\s*</defs>\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("xlink:href", "href")
    # The page's own font, and no turning by nothing.
    svg = re.sub(r"font: (?:\w+ )?([\d.]+px) [^;\"]*", r"font-size: \1", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?| transform=\"rotate\(-?0 [^\"]*\"", "", svg)
    for colour, name in _VARIABLES.items():
        svg = svg.replace(colour, f"var(--{name}, {colour})")
    svg = _own_ids(svg, hashlib.sha256(f"{title}{svg}".encode()).hexdigest()[:8])
    return _named(re.sub(r"\s*\n\s*", "\n", svg), title, description)


@contextmanager
def _any_alphabet() -> Iterator[None]:
    """Letters that matplotlib's font lacks are the reader's to show, and no reason to warn."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def _own_ids(svg: str, prefix: str) -> str:
    """Ids that no other chart of the page has, and only those that something refers to."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg))
    svg = re.sub(r" id=\"([^\"]+)\"", lambda found: f' id="{prefix}-{found[1]}"' if found[1] in used else "", svg)
    return re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}-", svg)


def _named(svg: str, title: str, description: str) -> str:
    box = re.search(r"viewBox=\"0 0 ([\d.]+) ([\d.]+)\"", svg)
    assert box is not None  # what matplotlib always writes
    style_of = f'style="max-width: {round(float(box[1]) * 4 / 3)}px"'
    name = f' aria-label="{escape(title)}"' if title else ""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img"{name} {box[0]} {style_of}>'
    told = f"<title>{escape(title)}</title>" if title else ""
    told += f"<desc>{escape(description)}</desc>" if description else ""
    return head + told + svg[svg.index(">") + 1 :].rstrip()


def as_png(figure: Figure, path: Path) -> None:
    """The figure as a PNG file, on white; raises OSError where it cannot be written."""
    with style(), _any_alphabet():
        figure.savefig(path, format="png", dpi=150, facecolor="white", metadata={"Software": None})
