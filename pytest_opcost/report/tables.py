"""Tables as all text reports show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: No line of a report is wider, other than one that holds a path or an id that is.
WIDTH = 80


def plain_table(rows: Sequence[Sequence[str]], headers: Sequence[str], *, left: int, right: int = 0) -> list[str]:
    """A table without rules but below its header; the first `left` columns are text, and the last `right` ones, the
    others figures.
    """
    from tabulate import tabulate  # not needed, and perhaps not there, where a round only measures

    align = ["left"] * left + ["right"] * (len(headers) - left - right) + ["left"] * right
    text = tabulate(rows, headers, tablefmt="simple", colalign=align, disable_numparse=True)
    return [line.rstrip() for line in text.splitlines()]


def narrow_table(rows: Sequence[Sequence[str]], headers: Sequence[str], *, left: int) -> list[str]:
    """The same, its first column cut to what fits `WIDTH`."""
    lines = plain_table(rows, headers, left=left)
    if (excess := max(map(len, lines)) - WIDTH) <= 0:
        return lines
    most = max(len(row[0]) for row in rows) - excess
    cut = [[row[0] if len(row[0]) <= most else f"{row[0][: max(most - 3, 1)]}...", *row[1:]] for row in rows]
    return plain_table(cut, headers, left=left)
