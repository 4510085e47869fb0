"""A large JSON file piece by piece: the events of a trace one after the other, never all of them at once."""

from __future__ import annotations

import codecs
import json
import re
import zlib
from typing import TYPE_CHECKING, Any

from pytest_opcost.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedIOBase

_BLOCK = 1 << 20
#: The key of a trace's events where the file is an object.
EVENTS = "traceEvents"
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*(,?)[ \t\r\n]*")
#: How near to the end of what was read a fault must lie for the file's next block to mend it: a long number or word.
_CUT = 64


class TraceFile:
    """A trace, read once from front to back: iterate to get its events as they are in the file.

    `head` has the other entries of the file's object, those behind the events too once all events were read. Numbers
    with a fraction come as text: microseconds since 1970 with nanoseconds do not fit a float. Raises InputError, with
    the offset in bytes of the text (decompressed, where the file is), where it is no JSON or no trace.
    """

    def __init__(self, file: BufferedIOBase, path: str) -> None:
        self.head: dict[str, Any] = {}
        self.path = path
        self._file = file
        # What is no UTF-8 is kept as it is, so that offsets stay right; a name shows it later.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        decoder: Any = json.JSONDecoder(strict=False, parse_float=str)
        self._scan = decoder.scan_once
        self._text, self._at, self._before = "", 0, 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        begins = self._next_sign()
        if begins == "[":
            yield from self._events()
        elif begins == "{":
            yield from self._object()
        else:
            raise self._no_trace(f"{begins!r}" if begins else "an empty file")

    def _object(self) -> Iterator[dict[str, Any]]:
        self._at += 1
        found = False
        while (sign := self._next_sign()) != "}":
            if sign == ",":
                self._at += 1
                continue
            key = self._value() if sign == '"' else None
            if not isinstance(key, str) or self._next_sign() != ":":
                raise self.damaged("no name of an entry" if key is None else "no colon behind the name of an entry")
            self._at += 1
            if key == EVENTS and self._next_sign() == "[":
                found = True
                yield from self._events()
            else:
                self.head[key] = self._value()
        if not found:
            keys = ", ".join(map(repr, list(self.head)[:5])) or "nothing"
            raise self._no_trace(f"an object with {keys}")

    def _events(self) -> Iterator[dict[str, Any]]:
        self._at += 1
        while True:
            comma = _COMMA.match(self._text, self._at)
            assert comma is not None
            if comma.end() == len(self._text) and self._more():
                continue
            self._at = comma.end()
            if self._text.startswith("]", self._at):
                self._at += 1
                return
            event = self._value()
            if not isinstance(event, dict):
                raise self.damaged(f"an event that is {_kind(event)}")
            yield event

    def _value(self) -> Any:
        """The JSON value at this place, which is then behind it."""
        self._next_sign()
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except StopIteration as stopped:
                where, why = int(stopped.value), "no value"
            except json.JSONDecodeError as error:
                where, why = error.pos, error.msg
            except RecursionError:
                raise self.damaged("lists in lists without end") from None
            else:
                # A number at the end of what was read may go on.
                if end < len(self._text) or not self._more():
                    self._at = end
                    return value
                continue
            near_its_end = where >= len(self._text) - _CUT or why.startswith("Unterminated")
            if not near_its_end or not self._more():
                cut = near_its_end and where >= len(self._text) - 1
                self._at = where
                raise self.damaged("the file ends within an event" if cut else why[0].lower() + why[1:])

    def _next_sign(self) -> str:
        """The next character that is no space, "" at the end; the place is before it."""
        while True:
            space = _SPACE.match(self._text, self._at)
            assert space is not None
            self._at = space.end()
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def _more(self) -> bool:
        """Read another block; what lies behind is forgotten. False at the end of the file."""
        try:
            block = self._file.read1(_BLOCK)
        except (OSError, EOFError, zlib.error) as error:  # a gzip file that is cut off or damaged says so only here
            raise self.damaged(str(error) or type(error).__name__) from None
        text = self._decoder.decode(block, final=not block)
        self._before += _length(self._text[: self._at])
        self._text, self._at = self._text[self._at :] + text, 0
        return bool(block)

    def damaged(self, reason: str) -> InputError:
        """An error that says so at the place up to which the file was read."""
        offset = self._before + _length(self._text[: self._at])
        return InputError(
            f"{self.path}: this trace is damaged at byte {offset:,}: {reason}.\n"
            f"Found there: {self._excerpt()}\n"
            "Expected: the JSON that export_chrome_trace() writes, whole. Export or copy it again."
        )

    def _no_trace(self, found: str) -> InputError:
        return InputError(
            f"{self.path}: this is no trace.\nFound: {found}.\n"
            f'Expected: a list of events, or an object with "{EVENTS}", as export_chrome_trace() and '
            "tensorboard_trace_handler() write it."
        )

    def _excerpt(self) -> str:
        there = self._text[self._at : self._at + 40].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return repr(there) if there else "the end of the file"


def _length(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", int: "a number", bool: "true or false", type(None): "null"}
    return names.get(type(value), "no object")
