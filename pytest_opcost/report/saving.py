"""Figures as SVG for a page and as PNG for a document; the same figure is the same text, and the same bytes."""

from __future__ import annotations

import io
import re
import warnings
from html import escape
from typing import TYPE_CHECKING, Any

from pytest_opcost.facts import digest
from pytest_opcost.report.look import IN_A_PAGE, OUTSIDE, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTS_PER_INCH = 144
_NOTHING_ABOUT_IT = {"Date": None, "Creator": None, "Format": None, "Type": None}


def as_png(figure: Figure) -> bytes:
    """The figure as a PNG, on white: a transparent background is black on black for some readers.

    A figure whose own background is transparent can be read on any, and stays so.
    """
    return _saved(figure, format="png", dpi=_DOTS_PER_INCH, facecolor="white", metadata={"Software": None})


def as_svg(figure: Figure, title: str = "", description: str = "", *, scales: bool = True) -> str:
    """The figure as an `<svg>` element to stand in a page: transparent, its text as text, named for who cannot see it.

    Colours are the page's variables, with their own as a fallback. A figure that `scales` takes the page's width and
    font too; one whose boxes fit their texts must keep its own.
    """
    svg = _saved(figure, format="svg", transparent=True, metadata=_NOTHING_ABOUT_IT).decode()
    svg = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    # A rule for "*" would hold for the whole page.
    svg = re.sub(r"<defs>\s*<style type=\"text/css\">.*?</style>\s*</defs>\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("xlink:href", "href").replace(OUTSIDE, "currentColor")
    for colour, name in IN_A_PAGE.items():
        svg = svg.replace(colour, f"var(--{name}, {colour})")
    if scales:
        # No turning by nothing either.
        svg = re.sub(r"font: (?:\w+ )?([\d.]+px) [^;\"]*", r"font-size: \1", svg)
        svg = re.sub(r"font-family: [^;\"]*;? ?| transform=\"rotate\(-?0 [^\"]*\"", "", svg)
    svg = _own_ids(svg, f"p{digest(title + svg)}")
    return _named(re.sub(r"\s*\n\s*", "\n", svg), title, description, scales=scales)


def printable(text: str) -> str:
    """A text without characters that no XML may hold."""
    return "".join(one if one.isprintable() else "?" for one in text)


def _saved(figure: Figure, **how: Any) -> bytes:
    content = io.BytesIO()
    with style(), warnings.catch_warnings():
        # Letters that the font lacks are drawn as boxes; where warnings are errors, no report should fail for it.
        warnings.simplefilter("ignore")
        figure.savefig(content, **how)
    return content.getvalue()


def _own_ids(svg: str, prefix: str) -> str:
    """Ids that no other figure of the page has, and only those that something refers to."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg))
    svg = re.sub(r" id=\"([^\"]+)\"", lambda found: f' id="{prefix}-{found[1]}"' if found[1] in used else "", svg)
    return re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}-", svg)


def _named(svg: str, title: str, description: str, *, scales: bool) -> str:
    title, description = escape(printable(title)), escape(printable(description))
    width, height, view = re.findall(r" (?:width|height|viewBox)=\"[^\"]*\"", svg)[:3]
    size = f' style="max-width: {round(float(view.split()[2]) * 4 / 3)}px"' if scales else width + height
    name = (' class="chart"' if scales else "") + ' role="img"' + (f' aria-label="{title}"' if title else "")
    told = f"<title>{title}</title>" if title and scales else ""
    told += f"<desc>{description}</desc>" if description else ""
    return f'<svg xmlns="http://www.w3.org/2000/svg"{name}{view}{size}>{told}{svg[svg.index(">") + 1 :].rstrip()}'
