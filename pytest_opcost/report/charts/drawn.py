"""What all charts share: their colours and axes, and how a figure becomes SVG for a page or PNG for a document."""

from __future__ import annotations

import hashlib
import io
import re
from html import escape
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

#: Colours, and the style sheet's name of each: in a page they follow its theme, elsewhere they are as they stand here.
INK, MUTED, RULE, NEUTRAL, BAD = "#24292f", "#6a737d", "#dfe2e6", "#a3afbb", "#b3261e"
SERIES = ("#2f6fab", "#c2681f", "#2e8b57", "#7d5ba6", "#1a8a94", "#b8405e")
_VARIABLES = {INK: "ink", MUTED: "muted", RULE: "rule", NEUTRAL: "neutral", BAD: "bad"} | {
    colour: f"series-{index}" for index, colour in enumerate(SERIES, 1)
}
#: Points of text; a figure of 6.2 inches is 446 points wide.
TEXT, SMALL, WIDTH = 9.0, 8.0, 6.2
_STYLE = {
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


def style() -> mpl.rc_context:
    """The charts' look, to be in force while one is made."""
    return mpl.rc_context(_STYLE)


def new_figure(height: float, *, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of the common width, `height` in inches, with so many axes side by side."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)
    return figure, list(axes[0])


def rows_figure(rows: int) -> tuple[Figure, Axes]:
    """A figure of so many rows, each named on its left; empty axes that reach from 0 to 1, the first row on top."""
    row, margin = 0.235, 0.1
    height = rows * row + 2 * margin
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_axes((0.0, margin / height, 1.0, 1 - 2 * margin / height))
    axes.set_axis_off()
    axes.set(xlim=(0, 1), ylim=(rows - 0.5, -0.5))
    return figure, axes


def shortened(name: str, most: int = 34) -> str:
    """A name that fits beside a chart: without torch's own namespace, its middle left out where it is too long."""
    name = name.removeprefix("aten::")
    return name if len(name) <= most else f"{name[: most - 12]}…{name[-11:]}"


def as_svg(figure: Figure, title: str = "", description: str = "") -> str:
    """The figure as an `<svg>` element to stand in a page: transparent, its text as text, named for who cannot see it.

    The same figure is the same text in every run. Colours are the page's variables, with their own as a fallback.
    """
    text = io.StringIO()
    with style():
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    # A rule for "*" would hold for the whole page.
    svg = re.sub(r"<defs>\s*<style type=\"text/css\">.*?</style>\s*</defs>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font: ((?:\w+ )?)([\d.]+px) [^;\"]*", r"font-size: \2", svg)
    for colour, name in _VARIABLES.items():
        svg = svg.replace(colour, f"var(--{name}, {colour})")
    svg = _own_ids(svg, hashlib.sha256(f"{title}{svg}".encode()).hexdigest()[:8])
    return _named(re.sub(r"\s*\n\s*", "\n", svg), title, description)


def _own_ids(svg: str, prefix: str) -> str:
    """Ids that no other chart of the page has, and only those that something refers to."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg))
    svg = re.sub(r" id=\"([^\"]+)\"", lambda found: f' id="{prefix}-{found[1]}"' if found[1] in used else "", svg)
    return re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}-", svg)


def _named(svg: str, title: str, description: str) -> str:
    box = re.search(r"viewBox=\"0 0 ([\d.]+) ([\d.]+)\"", svg)
    assert box is not None  # what matplotlib always writes
    width = round(float(box[1]) * 4 / 3)
    name = f' aria-label="{escape(title)}"' if title else ""
    head = f'<svg class="chart" role="img"{name} viewBox="{box[0][9:-1]}" style="max-width: {width}px">'
    told = f"<title>{escape(title)}</title>" if title else ""
    told += f"<desc>{escape(description)}</desc>" if description else ""
    return head + told + svg[svg.index(">") + 1 :].rstrip()


def as_png(figure: Figure, path: Path) -> None:
    """The figure as a PNG file, on white; raises OSError where it cannot be written."""
    with style():
        figure.savefig(path, format="png", dpi=150, facecolor="white", metadata={"Software": None})
