"""Figures as text for a page, and as files."""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

import matplotlib

from pytest_opcost.facts import digest
from pytest_opcost.report.drawing.painting import OUTSIDE, printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.figure import Figure

_DOTS_PER_INCH = 144
#: Texts stay texts: smaller than their outlines, and a reader can search them.
_SVG: Any = {"svg.fonttype": "none", "svg.hashsalt": "opcost"}
_NOTHING_ABOUT_IT = {"Date": None, "Creator": None, "Format": None, "Type": None}


def as_svg(figure: Figure, label: str = "") -> str:
    """The figure as one `<svg>` element to stand in a page; the same figure gives the same text.

    Text outside of boxes has the page's own colour. Ids are kept apart from those of other pictures in the page.
    `label` is what a screen reader says instead of the picture.
    """
    buffer = StringIO()
    with matplotlib.rc_context(_SVG), _any_alphabet():
        figure.savefig(buffer, format="svg", metadata=_NOTHING_ABOUT_IT)
    text = buffer.getvalue()
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    svg = svg.replace(OUTSIDE, "currentColor")
    referred = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg))
    svg = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in referred else "", svg)
    own = f"p{digest(svg)}-"
    svg = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{own}", svg)
    spoken = f' role="img" aria-label="{_escaped(label)}"' if label else ""
    return re.sub(r"\n\s*\n+", "\n", svg.replace("<svg", f"<svg{spoken}", 1)).strip()


def as_png(figure: Figure, path: Path) -> None:
    """Write the figure to a PNG file with a transparent background; raises OSError where that cannot be done."""
    with _any_alphabet():
        figure.savefig(path, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})


@contextmanager
def _any_alphabet() -> Iterator[None]:
    """A name in letters that the font lacks is drawn as boxes, and no reason to fail."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def _escaped(text: str) -> str:
    return printable(text).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
