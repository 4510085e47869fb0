"""How all figures look: colours, sizes of text, and what else matplotlib is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

#: Colours, and the style sheet's name of each: in a page they follow its theme, elsewhere they are as they stand here.
INK, MUTED, RULE, NEUTRAL, BAD = "#24292f", "#6a737d", "#dfe2e6", "#a3afbb", "#b3261e"
SERIES = ("#2f6fab", "#c2681f", "#2e8b57", "#7d5ba6", "#1a8a94", "#b8405e")
#: What a page has in their place.
IN_A_PAGE = {INK: "ink", MUTED: "muted", RULE: "rule", NEUTRAL: "neutral", BAD: "bad"} | {
    colour: f"series-{index}" for index, colour in enumerate(SERIES, 1)
}
#: Text outside of boxes, where the background is unknown: as dark as can be read on black, as light as can be on white.
OUTSIDE = "#797d83"
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
    """The charts' look, to be in force while one is made, and while it is saved: ticks are made that late."""
    import matplotlib

    return matplotlib.rc_context(_STYLE)
