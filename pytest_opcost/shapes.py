"""Shapes of plain data: each checks a value read from a file and returns it, without whatever it does not know."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeAlias

#: No figure of a step is larger, or smaller and not nothing; ratios, sums and squares of such are still numbers.
LARGEST, LEAST = 1e24, 1e-12

#: Takes a value and where it stands; raises ShapeError where it is not of this shape.
Shape: TypeAlias = Callable[[object, str], Any]


class ShapeError(ValueError):
    """A value is not as expected: the message says where, what was found and what was expected."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        super().__init__(f"{where or 'the document'}: found {found}.\nExpected: {expected}.")


def text(value: object, where: str) -> str:
    """Any text, an empty one too."""
    if not isinstance(value, str):
        raise ShapeError(where, _described(value), "text")
    return value


def flag(value: object, where: str) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise ShapeError(where, _described(value), "true or false")
    return value


def number(value: object, where: str) -> float:
    """A finite number, no larger than there can be."""
    if type(value) not in (int, float) or not -LARGEST < value < LARGEST:  # type: ignore[operator]
        raise ShapeError(where, _described(value), f"a finite number, smaller than {LARGEST:.0e}")
    return value  # type: ignore[return-value]


def amount(value: object, where: str) -> float:
    """A finite number, 0 or more."""
    if (found := number(value, where)) < 0:
        raise ShapeError(where, _described(value), "a finite number, 0 or more")
    return found if found >= LEAST else 0.0


def count(value: object, where: str) -> int:
    """A whole number, 0 or more."""
    if type(value) is not int or not 0 <= value < LARGEST:
        raise ShapeError(where, _described(value), f"a whole number, 0 or more, smaller than {LARGEST:.0e}")
    return value


def moment(value: object, where: str) -> str:
    """A time in ISO format."""
    try:
        datetime.fromisoformat(text(value, where))
    except ValueError:
        raise ShapeError(where, _described(value), "a time such as 2026-11-28T10:15:30+01:00") from None
    return str(value)


def one_of(*words: str) -> Shape:
    """One of these texts."""

    def read(value: object, where: str) -> str:
        if value not in words:
            raise ShapeError(where, _described(value), f"one of {', '.join(words)}")
        return str(value)

    return read


def optional(shape: Shape) -> Shape:
    """null, or this."""
    return lambda value, where: None if value is None else shape(value, where)


def list_of(shape: Shape) -> Shape:
    """A list of these."""

    def read(value: object, where: str) -> list[Any]:
        return [shape(one, f"{where}[{index}]") for index, one in enumerate(_list(value, where))]

    return read


def row(*shapes: Shape) -> Shape:
    """A list of as many values as there are shapes, in their order."""

    def read(value: object, where: str) -> list[Any]:
        found = _list(value, where)
        if len(found) != len(shapes):
            raise ShapeError(where, f"a list of {len(found)}", f"a list of {len(shapes)}")
        return [shape(one, f"{where}[{index}]") for index, (shape, one) in enumerate(zip(shapes, found))]

    return read


def names_to(shape: Shape) -> Shape:
    """An object with any names, each value of this shape."""

    def read(value: object, where: str) -> dict[str, Any]:
        return {name: shape(one, _below(where, name)) for name, one in _object(value, where).items()}

    return read


def record(**fields: Shape) -> Shape:
    """An object with these fields, none of which may be missing that may not be null; others are left out."""

    def read(value: object, where: str) -> dict[str, Any]:
        found = _object(value, where)
        missing = [name for name in fields if name not in found]
        for name in missing:
            try:
                fields[name](None, where)
            except ShapeError:
                raise ShapeError(_below(where, name), "nothing", "a value: the field is missing") from None
        return {name: shape(found.get(name), _below(where, name)) for name, shape in fields.items()}

    return read


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ShapeError(where, _described(value), "a list")
    return value


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ShapeError(where, _described(value), "an object of names and values")
    return value


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _described(value: object) -> str:
    kinds = {dict: "an object", list: "a list", bool: "a yes/no", type(None): "null"}
    return kinds.get(type(value)) or (repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}...")
