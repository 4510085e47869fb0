"""A text that ends in the midst of a row of its table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.imports.printed.columns import Columns

#: The beginning of a cell, far from what stands before it, at the end of a line: a figure without its unit, or a count.
_BEGUN_CELL = re.compile(r"\s{2}\s*-?\d+(\.\d*)?[num]?\s*$")


def ends_within_a_row(lines: Sequence[str], columns: Columns, *, whole: bool) -> bool:
    """Whether the last of the lines between a table's header and the text's end is the beginning of a row alone.

    `whole` says whether that line was ended. A text may go on below a table with words of its own, so that one sign is
    not enough.
    """
    *above, last = lines
    rows = [(line, cells) for line in above if (cells := columns.cells(line)) is not None]
    if not last.strip(" -\t") or not rows:
        return False
    # The tables of torch 1.0 are the only ones without an end.
    closed = any(title.startswith("Self CPU") for title in columns.titles)
    if columns.cells(last) is not None:
        widths = {len(line.rstrip()) for line, _ in rows}
        aligned = closed and len(rows) > 1 and len(widths) == 1 and columns.told[-1] == columns.titles[-1]
        return not whole and aligned and len(last.rstrip()) < min(widths)
    signs = closed, not whole, _BEGUN_CELL.search(last) is not None
    if "Source Location" in columns.titles:
        # Below a row stands where it was called, right of all names.
        beginning = len(last) - len(last.lstrip())
        return sum(signs) > 1 and beginning < max(line.index(cells.name) + len(cells.name) for line, cells in rows)
    return sum(signs) > 1 and bool(above[-1].strip())
