"""GitHub's Markdown from text that nobody vouches for: names of tests and operators, messages, tables of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: What Markdown or HTML would read as its own. An underscore within a word means nothing to it, and stays readable.
_SPECIAL = re.compile(r"[\\`*\[\]<>|#$~!&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
#: Operators in a sentence, as code: `aten::sqrt_`, which else reads as markup; a test's id follows a file's ending.
_OPERATORS = re.compile(r"(?<![\w:.])(\w+::\w+(?:\.\w+)?)(?![\w:])")
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


def plain(text: str) -> str:
    """The text as it reads, on one line, whatever is in it."""
    return _SPECIAL.sub(lambda found: "\\" + found[0], _BREAKS.sub(" ", text))


def sentence(text: str) -> str:
    """The same, with the operators that it names set as code."""
    return "".join(code(part) if turn % 2 else plain(part) for turn, part in enumerate(_OPERATORS.split(text)))


def code(text: str) -> str:
    """The text as code on one line: nothing in it is markup, and it can stand in a table."""
    text = _BREAKS.sub(" ", text) or " "
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence, gap = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{gap}{text}{gap}{fence}".replace("|", "\\|")


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> list[str]:
    """A table of cells that are Markdown already, aligned for who reads it as text; the first `left` columns are words,
    the others figures."""
    body = [headers, *rows]
    widths = [max(3, *(len(row[column]) for row in body)) for column in range(len(headers))]
    rule = ["-" * width if column < left else "-" * (width - 1) + ":" for column, width in enumerate(widths)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths))
        )
        return f"| {' | '.join(padded)} |"

    return [line(headers), line(rule), *(line(row) for row in body[1:])]
