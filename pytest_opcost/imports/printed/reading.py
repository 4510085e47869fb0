"""A text with printed tables in it -> their rows; what stands around them is passed over."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.errors import InputError
from pytest_opcost.imports.printed.columns import Cells, Columns, looks_like_a_row, times_in
from pytest_opcost.imports.printed.torn import ends_within_a_row

if TYPE_CHECKING:
    from collections.abc import Sequence

_RULE = re.compile(r"\s*-{3,}[-\s]*")
#: What stands before every line where a table was pasted into a comment or quoted.
_QUOTE = re.compile(r"\s*(#|>|//|;)(?=\s)")
#: Totals stand right below a table.
_LINES_OF_TOTALS = 4


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table: the line of its header, its rows, the totals below by device in microseconds; `ended` if it has an end.

    Lines are counted from 1.
    """

    line: int
    columns: Columns
    rows: tuple[Cells, ...]
    totals: dict[str, float]
    ended: bool


def printed_tables(text: str, path: str) -> list[PrintedTable]:
    """All tables in a text; raises InputError, with the line, where there is none or one is damaged."""
    lines, tables, at = text.splitlines(), [], 0
    whole = text.endswith(("\n", "\r"))
    while at < len(lines):
        quote = found[1] if (found := _QUOTE.match(lines[at])) else ""
        columns = Columns.of(_unquoted(lines[at], quote))
        at += 1
        if columns is not None:
            header, (table, at) = at, _table(lines, at, columns, quote, path)
            rest = [_unquoted(line, quote) for line in lines[header:]] if at >= len(lines) - 1 else []
            if rest and not table.ended and ends_within_a_row(rest, columns, whole=whole):
                raise InputError(_torn(rest[-1], len(lines), columns, path))
            tables.append(table)
    if not tables:
        raise InputError(_none(lines, path))
    return tables


def _table(lines: Sequence[str], at: int, columns: Columns, quote: str, path: str) -> tuple[PrintedTable, int]:
    """The table whose header stands before this line, and the place behind it."""
    header, ended = at, False
    # Stacks go on in lines without a name.
    names = _unquoted(lines[header - 1], quote).index("Name") + len("Name")
    rows: list[Cells] = []
    while at < len(lines):
        line = _unquoted(lines[at], quote)
        if _RULE.fullmatch(line):
            # A rule stands below the header as well.
            if rows:
                ended, at = True, at + 1
                break
        elif (row := columns.cells(line)) is not None:
            rows.append(row)
        elif looks_like_a_row(line) and times_in(line) is None:
            raise InputError(_damaged(line, at + 1, columns, path))
        elif line.strip() and not ("Source Location" in columns.titles and not line[:names].strip()):
            if rows and _goes_on(lines[at + 1 :], columns, quote):
                raise InputError(_damaged(line, at + 1, columns, path))
            break
        at += 1
    if not columns.tells_calls:
        raise InputError(
            f"{path}, line {header}: the table's columns are cut off: those of calls and of means are not "
            f"there, which torch prints on the right.\nFound: {', '.join(columns.titles)}.\n"
            "Expected: all columns. Print or copy the table again, as wide as it is."
        )
    if not rows:
        raise InputError(
            f"{path}, line {header}: a table without rows.\nFound: its header, {', '.join(columns.titles[:4])} and so "
            "on.\nExpected: a row for each operator below it. Print the table again, while there is something in it."
        )
    totals: dict[str, float] = {}
    for line in lines[at : at + _LINES_OF_TOTALS]:
        told = times_in(_unquoted(line, quote))
        if told is None and line.strip():
            break
        if told is not None:
            totals[told[0]] = told[1]
    return PrintedTable(header, columns, tuple(rows), totals, ended), at


def _goes_on(lines: Sequence[str], columns: Columns, quote: str) -> bool:
    """Whether the table goes on in the lines that follow: what stands before its next row is no end of it."""
    for line in (_unquoted(line, quote) for line in lines):
        if columns.cells(line) is not None:
            return True
        if _RULE.fullmatch(line) or Columns.of(line) is not None:
            return False
    return False


def _unquoted(line: str, quote: str) -> str:
    return re.sub(rf"^\s*{re.escape(quote)}", "", line) if quote else line


def _damaged(line: str, number: int, columns: Columns, path: str) -> str:
    titles = ", ".join(columns.told)
    return (
        f"{path}, line {number}: this row of the table is damaged: nothing readable under "
        f'"{columns.first_unread(line)}".\nFound: {line.strip()[:100]}\n'
        f"Expected: a name, then {titles}.\nPrint or copy the table again, without wrapped lines."
    )


def _torn(line: str, number: int, columns: Columns, path: str) -> str:
    return (
        f"{path}, line {number}: the text ends in the midst of this row of the table.\nFound: {line.strip()[:100]}\n"
        f"Expected: a name, then {', '.join(columns.told)}.\nPrint or copy the table again, to its end."
    )


def _none(lines: Sequence[str], path: str) -> str:
    named = [number for number, line in enumerate(lines, 1) if re.match(r"\W*Name\b.*\bCPU\b", line)]
    first = next((line.strip() for line in lines if line.strip()), "")
    found = f"a header in line {named[0]} whose columns are not understood" if named else f"{first[:60]!r}"
    return (
        f"{path}: no table of torch's profiler is in it.\nFound: {found if first else 'an empty file'}, in "
        f"{len(lines):,} line{'s' if len(lines) != 1 else ''}.\n"
        "Expected: what print(prof.key_averages().table()) prints, from the line that begins with Name on, or a trace "
        "that export_chrome_trace() wrote."
    )
