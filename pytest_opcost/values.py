"""Values as users write them -> checked values; what is not valid ends in an OptionError that says what would."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pytest_opcost.errors import OptionError
from pytest_opcost.families import FAMILIES, closest_side, is_side

T = TypeVar("T")

_DEVICES = re.compile(r"(cpu|mps|(cuda|xpu)(:\d+)?)")


def number(kind: Callable[[str], T], least: T, expected: str) -> Callable[[str, object], T]:
    def parse(where: str, value: object) -> T:
        # A bool is an int to Python, never to a user.
        try:
            number = kind(str(value)) if not isinstance(value, bool) else None
        except ValueError:
            number = None
        if number is None or not number >= least or number == float("inf"):  # type: ignore[operator]
            raise OptionError(f"{where}={value!r} is not valid.\nExpected: {expected}.")
        return number

    return parse


positive = number(int, 1, "a whole number, 1 or more, such as 16")
natural = number(int, 0, "a whole number, 0 or more, such as 5")
fraction = number(float, 0.0, "a number, 0 or more, such as 0.10 for 10 %")
microseconds = number(float, 0.0, "microseconds, 0 or more, such as 5")


def one_of(*words: str) -> Callable[[str, object], str]:
    def parse(where: str, value: object) -> str:
        if value not in words:
            raise OptionError(f"{where}={value!r} is not valid.\nExpected: {', '.join(words[:-1])} or {words[-1]}.")
        return str(value)

    return parse


def switched_on(text: str) -> bool:
    """Whether a variable of the environment, such as CI, says yes."""
    return text.lower() not in ("", "0", "false")


def text(where: str, value: object) -> str:
    return str(value)


def path(where: str, value: object) -> str:
    """A path, which must not be empty: that would be the folder that pytest runs in."""
    if not str(value).strip():
        raise OptionError(f"{where} is empty.\nExpected: a path.")
    return str(value)


#: What results can be written as for others, see `report.exports`.
EXPORTS = ("bencher", "csv", "github-action-benchmark", "gitlab", "openmetrics", "pytest-benchmark")


def exports(where: str, value: object) -> tuple[tuple[str, str], ...]:
    """Pairs of a format and a file from `FORMAT:PATH`, one for each time that the option was given."""
    found: dict[str, str] = {}
    for text in value if isinstance(value, (list, tuple)) else (value,):
        kind, _, file = str(text).partition(":")
        if kind not in EXPORTS or not file.strip():
            raise OptionError(
                f"{where}={text!r} is not valid.\n"
                f"Expected: FORMAT:PATH, such as csv:costs.csv. The formats are {', '.join(EXPORTS)}."
            )
        if found.setdefault(file, kind) != kind:
            raise OptionError(
                f"{where}={text!r} would overwrite the {found[file]} file of the same name.\n"
                "Expected: a file of its own for each format."
            )
    return tuple((kind, file) for file, kind in found.items())


def list_of(item: Callable[[str, Any], T]) -> Callable[[str, object], tuple[T, ...]]:
    """Comma-separated, repeated, or both; duplicates are dropped, since a test id must be unique."""

    def parse(where: str, value: object) -> tuple[T, ...]:
        texts = value if isinstance(value, (list, tuple)) else (value,)
        parts = [part.strip() for text in texts for part in str(text).split(",")]
        # Each value first, so that what is suggested is valid.
        found = tuple({item(where, part): None for part in parts if part or len(parts) == 1})
        if len(parts) > 1 and not all(parts):
            example = ",".join(filter(None, parts))
            raise OptionError(
                f"{where}={','.join(map(str, texts))!r} has nothing between two commas, or at an end.\n"
                f"Expected: values with commas between{example and ', such as '}{example}."
            )
        return found

    return parse


def device_name(where: str, value: object) -> str:
    """A device's name, checked for form only; raises OptionError."""
    if not _DEVICES.fullmatch(str(value)):
        # `--device` may belong to somebody else: it is recommended only to who used it.
        option = where if where.startswith("--") else "--opcost-device"
        raise OptionError(
            f"{where}={value!r} is no device that opcost knows.\n"
            f"Expected: cpu, cuda, cuda:1 (or another index), mps or xpu.\nFor example: {option}=cpu"
        )
    return str(value)


def ratio(where: str, value: object) -> tuple[str, float]:
    name, _, band = str(value).partition("=")
    return _ratio_name(where, name.strip()), fraction(f"{where}: the band of {name.strip()}", band.strip() or "0.10")


def _ratio_name(where: str, name: object) -> str:
    sides = str(name).split("/")
    if len(sides) != 2 or not all(side and not re.search(r"\s", side) for side in sides):
        raise OptionError(
            f"{where}: {name!r} is no ratio.\n"
            "Expected: two families, operators or `total` with a slash between, such as conv/addmm or copy/total."
        )
    if unknown := [side for side in sides if not is_side(side)]:
        closest = closest_side(unknown[0])
        raise OptionError(
            f"{where}: {name!r} is no ratio: {unknown[0]!r} is neither a family nor an operator's full name.\n"
            f"Expected: `total`, an operator such as aten::mm, or a family: {', '.join(FAMILIES)}."
            + (f"\nThe closest is {closest}." if closest else "")
        )
    return str(name)


def ratios(where: str, value: object) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, Mapping):
        raise OptionError(f"{where}={value!r} is not valid.\nExpected: a dict such as {{'conv/addmm': 0.10}}.")
    pairs = ((_ratio_name(where, name), band) for name, band in value.items())
    return tuple((name, fraction(f"{where}: the band of {name}", band)) for name, band in pairs)


_KINDS: Mapping[str, Callable[[str, object], object]] = {
    "text": text,
    "path": path,
    "positive": positive,
    "natural": natural,
    "fraction": fraction,
    "microseconds": microseconds,
    "sizes": list_of(positive),
    "devices": list_of(device_name),
    "ratios": list_of(ratio),
    "exports": exports,
}


def parser(kind: str) -> Callable[[str, object], Any]:
    """What checks the values of an option of this kind: one of the above, or words with `|` between, such as `a|b`."""
    return one_of(*kind.split("|")) if "|" in kind else _KINDS[kind]
