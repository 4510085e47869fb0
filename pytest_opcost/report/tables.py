"""Tables as all text reports show them."""

from __future__ import annotations

from collections import Counter
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
    """The same, its first column cut to what fits `WIDTH`; names that differ still do, if it takes more than that."""
    lines = plain_table(rows, headers, left=left)
    if (excess := max(map(len, lines)) - WIDTH) <= 0:
        return lines
    names = [row[0] for row in rows]
    short = shortened(names, max(map(len, names)) - excess)
    return plain_table([[short[name], *rest] for name, *rest in rows], headers, left=left)


def shortened(names: Sequence[str], room: int) -> dict[str, str]:
    """Each name without its end where it takes more than `room` characters.

    Names that would then read the same lack a part in their middle instead, and take more room where nothing else tells
    them apart.
    """
    short = {name: _cut(name, room, 0) for name in names}
    told = Counter(short.values())
    alike = [name for name, text in short.items() if told[text] > 1]
    for wider in range(room, max(map(len, alike), default=0)):
        # As near to the middle as tells them apart.
        for tail in sorted(range(1, wider - 3), key=lambda tail: abs(tail - wider // 2)):
            cut = [_cut(name, wider, tail) for name in alike]
            if len({*cut}) == len(cut) and told.keys().isdisjoint({*cut} - {*alike}):
                return short | dict(zip(alike, cut))
    return short | dict(zip(alike, alike))


def _cut(name: str, room: int, tail: int) -> str:
    """The name, or as much of it as fits: its beginning and the last `tail` characters."""
    return name if len(name) <= room else f"{name[: max(room - 3 - tail, 1)]}...{name[len(name) - tail :]}"
