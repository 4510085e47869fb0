"""Reading a document field by field: what is not as expected ends in one error that names place and mend."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_opcost.errors import BaselineError
from pytest_opcost.facts import in_order
from pytest_opcost.shapes import LARGEST, LEAST

if TYPE_CHECKING:
    from collections.abc import Iterator


class Fields:
    """A mapping read from a file, and where in the file it stands."""

    __slots__ = ("_above", "_mend", "_name", "_value", "_where")

    def __init__(self, value: object, where: str, mend: str, above: Fields | None = None, name: str = "") -> None:
        self._where, self._mend, self._above, self._name = where, mend, above, name
        if not isinstance(value, dict):
            raise self._wrong(self._path or "the document", _described(value), "a mapping of names to values")
        self._value = value

    def __contains__(self, name: str) -> bool:
        return name in self._value

    def error(self, name: str, found: str, expected: str) -> BaselineError:
        """The error for one field of this mapping."""
        return self._wrong(self._below(name), found, expected)

    def take(self, name: str) -> object:
        """A field's value, whatever it is; raises BaselineError where it is missing."""
        if name not in self._value:
            from difflib import get_close_matches

            alike = get_close_matches(name, self.names(), n=1, cutoff=0.85)
            raise self.error(name, f"nothing, but {alike[0]}" if alike else "nothing", "a value: the field is missing")
        return self._value[name]

    def text(self, name: str) -> str:
        """A field that holds text; a number, a version or a date that YAML read as such is taken as its text."""
        known = self._value.get(name)
        if type(known) is str and known:
            return known
        value = self.take(name)
        if value is None or isinstance(value, (dict, list, bool)) or value == "":
            raise self.error(name, _described(value), "text")
        return str(value)

    def number(self, name: str, *, positive: bool = False) -> float:
        """A field that holds a finite number, 0 or more (more than 0 if `positive`)."""
        known = self._value.get(name)
        if type(known) is float and LEAST < known < LARGEST:
            return known
        return self._number(name, self.take(name), positive=positive)

    def flag(self, name: str) -> bool:
        """A field that holds `true` or `false`."""
        value = self.take(name)
        if not isinstance(value, bool):
            raise self.error(name, _described(value), "true or false")
        return value

    def count(self, name: str, *, positive: bool = False) -> int:
        """A field that holds a whole number, 0 or more (more than 0 if `positive`)."""
        known = self._value.get(name)
        if type(known) is int and LEAST < known < LARGEST:
            return known
        value = self.number(name, positive=positive)
        if value != int(value):
            raise self.error(name, f"{value}", "a whole number")
        return int(value)

    def numbers(self, name: str) -> tuple[float, ...]:
        """A field that holds a list of finite numbers, 0 or more each."""
        value = self.take(name)
        if not isinstance(value, list):
            raise self.error(name, _described(value), "a list of numbers")
        if all(type(item) is float and LEAST < item < LARGEST for item in value):
            return tuple(value)
        return tuple(self._number(f"{name}[{index}]", item) for index, item in enumerate(value))

    def pair(self, name: str) -> tuple[float, float]:
        """A field that holds a list of two finite numbers, 0 or more each."""
        values = self.numbers(name)
        if len(values) != 2:
            raise self.error(name, f"{len(values)} numbers", "two numbers")
        return values[0], values[1]

    def mapping(self, name: str) -> Fields:
        """A field that holds a mapping."""
        return Fields(self.take(name), self._where, self._mend, self, name)

    def names(self) -> list[str]:
        """The names of this mapping's fields."""
        return [str(name) for name in self._value]

    def texts(self) -> tuple[tuple[str, str], ...]:
        """All fields as pairs of texts, sorted by name."""
        return tuple(sorted((name, self.text(name)) for name in self.names()))

    def counts(self) -> tuple[tuple[str, int], ...]:
        """All fields as pairs of a name and a whole number, the largest first, equals in the order of their names."""
        pairs = self._value.items()
        if all(type(name) is str and type(count) is int and LEAST < count < LARGEST for name, count in pairs):
            return in_order(pairs)  # nearly all of them
        return in_order((name, self.count(name)) for name in self.names())

    def list_of_texts(self, name: str) -> tuple[str, ...]:
        """A field that holds a list of texts."""
        value = self.take(name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(name, _described(value), "a list of texts")
        return tuple(value)

    def rows(self, name: str, *, named_by: str | None = None) -> Iterator[Fields]:
        """The mappings of a list that is not empty; no two may have the same `named_by`, if any is given."""
        value = self.take(name)
        if not isinstance(value, list) or not value:
            raise self.error(name, _described(value), "a list of one row or more")
        seen = set()
        for index, item in enumerate(value):
            row = Fields(item, self._where, self._mend, self, f"{name}[{index}]")
            if named_by is not None:
                if (key := row.text(named_by)) in seen:
                    raise row.error(named_by, f"{key}, a second time", "every operator once")
                seen.add(key)
            yield row

    def _number(self, name: str, value: object, *, positive: bool = False) -> float:
        # Nearly all of them.
        if type(value) in (float, int) and (LEAST < value < LARGEST or (value == 0 and not positive)):  # type: ignore[operator]
            return float(value or 0)  # type: ignore[arg-type]
        expected = f"a finite number, {'more than 0' if positive else '0 or more'}"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.error(name, _described(value), expected)
        if isinstance(value, float) and LARGEST <= value < math.inf:
            expected += f", and less than {LARGEST:.0e}"
        if not 0 <= value < LARGEST or (positive and value < LEAST):
            raise self.error(name, f"{value}"[:40], expected)
        return float(value) if value >= LEAST else 0.0

    @property
    def _path(self) -> str:
        """Where in the document it stands, for messages alone."""
        return self._name if self._above is None else self._above._below(self._name)

    def _below(self, name: str) -> str:
        path = self._path
        return f"{path}.{name}" if path else name

    def _wrong(self, field: str, found: str, expected: str) -> BaselineError:
        return BaselineError(f"{self._where}: {field}: found {found}.\nExpected: {expected}.\n{self._mend}")


def _described(value: object) -> str:
    kinds = {dict: "a mapping", list: "a list", str: "text", bool: "a yes/no", type(None): "nothing"}
    kind = kinds.get(type(value))
    return f"{kind} ({value!r})" if isinstance(value, (str, bool)) else kind or repr(value)
