"""Lines for a terminal, broken where they may be."""

from __future__ import annotations

import re
import textwrap

from pytest_opcost.report.tables import WIDTH

#: The spaces at which no line is to be broken, and what stands for them meanwhile, which no text has.
_WITHIN_A_FIGURE = re.compile(r"(?<=\d) (?=%|[nmu]?s\b|times\b)|(?<=\(was) |(?<=\(warm) |(?<=\A-) ")
_GLUE = "\x1f"


def wrapped(line: str, indent: str) -> list[str]:
    """The line, broken at 80 columns between words, a figure and its unit being one word.

    What follows the first break starts with `indent`.
    """
    text = line.lstrip(" ")
    own = line[: len(line) - len(text)]  # given apart: a first word that is too long would lose it
    lines = textwrap.wrap(
        _WITHIN_A_FIGURE.sub(_GLUE, text), WIDTH,
        initial_indent=own, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [one.replace(_GLUE, " ") for one in lines] or [""]
