"""The columns of a printed table, told by its header: each torch has others, and in another order.

Sources: `build_table` in torch/autograd/profiler.py (0.4 to 1.8) and torch/autograd/profiler_util.py since.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

#: What titles look like. Text in a column of the last kind may be empty or hold spaces, so that nothing behind it can
#: be told apart; torch puts such columns last.
_TITLE = re.compile(
    r"(?P<name>Name|Overload Name)(?=\s|$)|(?P<calls># of Calls|Number of Calls|Calls)"
    r"|(?P<text>Node ID|Input Shapes|Source Location|Total [KMGTP]?FLOP[Ss])"
    r"|(?P<value>(?:Self )?\w+ (?:total %|total|time avg|time|Mem|%)|Self \w+)"
)
_TIME = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?:ns|us|ms|s)"
#: Percents are NaN of nothing, 0 for what runs on several threads.
_PERCENT = r"-?\d+(?:\.\d+)?%|-?[Nn]a[Nn]%?|--|0"
_MEMORY = r"-?\d+(?:\.\d+)? ?(?:[KMGTP]i?)?[Bb]|--|0"
_UNITS = {"ns": 0.001, "us": 1.0, "ms": 1000.0, "s": 1_000_000.0}


@dataclass(frozen=True, slots=True)
class Cells:
    """One row as it is printed; times are microseconds, None where the table has no such column."""

    name: str
    calls: int | None
    values: dict[str, float]


@dataclass(frozen=True)
class Columns:
    """The titles of a table's columns, left to right."""

    titles: tuple[str, ...]

    @classmethod
    def of(cls, line: str) -> Columns | None:
        """The columns of a header; None where the line is none. Names of devices are as they stand there."""
        rest = line.strip()
        titles = []
        while rest:
            found = _TITLE.match(rest)
            if found is None:
                break
            titles.append(found[0])
            rest = rest[found.end() :].lstrip()
        timed = any(title.startswith(("CPU", "Self CPU")) for title in titles)
        enough = len(titles) > 2 and titles[0] == "Name" and timed
        # Beyond the last title that is understood nothing is needed.
        return cls(tuple(titles)) if enough and (not rest or _kind(titles[-1]) in ("text", "calls")) else None

    @property
    def told(self) -> tuple[str, ...]:
        """The columns whose cells are read: those behind the names, up to the first text."""
        told = [title for title in self.titles if _kind(title) != "name"]
        texts = [place for place, title in enumerate(told) if _kind(title) == "text"]
        return tuple(told[: texts[0]] if texts else told)

    @property
    def tells_calls(self) -> bool:
        """Whether it says how often each operator was called, or what one call took: every torch prints both."""
        return any(_kind(title) == "calls" or title.endswith("time avg") for title in self.titles)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices other than the CPU that have a column of times, such as `CUDA`."""
        found = (re.fullmatch(r"(?:Self )?(\w+) total|(\w+) time(?: avg)?|Self (\w+)", title) for title in self.titles)
        names = (next(filter(None, match.groups())) for match in found if match)
        return tuple(dict.fromkeys(name for name in names if name != "CPU"))

    @cached_property
    def _row(self) -> re.Pattern[str]:
        cells = "".join(rf"\s+({_pattern(title)})" for title in self.told)
        return re.compile(rf"\s*(?P<name>\S.*?){cells}(?:\s.*)?")

    def cells(self, line: str) -> Cells | None:
        """The cells of a row; None where the line is none of this table's."""
        found = self._row.fullmatch(line)
        if found is None:
            return None
        name = found["name"]
        if "Overload Name" in self.titles:
            name = re.split(r"\s{2,}", name)[0]
        texts = dict(zip(self.told, found.groups()[1:]))
        calls = next((int(text) for title, text in texts.items() if _kind(title) == "calls"), None)
        values = {title: _us(text) for title, text in texts.items() if _is_time(title)}
        return Cells(name, calls, values)

    def first_unread(self, line: str) -> str:
        """The column under which this line, which is no row, has nothing that can be read."""
        pattern = r"\s*\S.*?"
        for title in self.told:
            pattern += rf"\s+(?:{_pattern(title)})"
            if re.match(pattern + r"(?:\s|$)", line) is None:
                return title
        return self.told[-1]


def looks_like_a_row(line: str) -> bool:
    """Whether there are times or percents in it, as in a row of some table."""
    return re.search(r"\d(?:ns|us|ms|s|%)(?:\s|$)", line) is not None


def times_in(text: str) -> tuple[str, float] | None:
    """A line of totals below a table as the device that it is of and its microseconds; None for other lines."""
    found = re.fullmatch(rf"\s*(?:Self )?(\w+) time total:\s*({_TIME})\s*", text)
    return (found[1], _us(found[2])) if found else None


def _kind(title: str) -> str:
    found = _TITLE.fullmatch(title)
    return str(found.lastgroup) if found else ""


def _is_time(title: str) -> bool:
    return _kind(title) == "value" and not title.endswith(("%", "Mem"))


def _pattern(title: str) -> str:
    if _kind(title) == "calls":
        return r"\d+"
    return _PERCENT if title.endswith("%") else _MEMORY if title.endswith("Mem") else _TIME


def _us(text: str) -> float:
    """The microseconds of a printed time."""
    number, unit = re.fullmatch(r"(.*?)(ns|us|ms|s)", text).groups()  # type: ignore[union-attr]
    return float(number) * _UNITS[unit]
