"""The YAML that this package writes, read line by line, several times as fast as YAML in general.

A value is turned into JSON, word by word, and read as that. Whatever is written otherwise, say by hand, is left to
YAML: a text is either read as YAML reads it, or not at all.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WORD = r"[A-Za-z_(][\w.+/()<>=*&#-]*(?: [\w+/()<>=*&-][\w.+/()<>=*&#-]*)*"
_QUOTED = r"'(?:[^']|'')*'"
#: A number that YAML and JSON read alike.
_NUMBER = r"-?(?:0|[1-9]\d*)(?:\.\d+(?:e[+-]\d+)?)?"
#: What stays as it is: brackets, commas and spaces, and the numbers before and between them.
_ALIKE = rf"(?:{_NUMBER})?[{{}}\[\], ]+(?:{_NUMBER}[{{}}\[\], ]+)*"
#: Whatever a value is made of: that, names, quoted text, words, what begins with a digit, and any other character.
_TOKEN = re.compile(rf"{_ALIKE}|[a-z_]+: |: |{_QUOTED}|{_WORD}|-?\d[^\s,:\[\]{{}}'\"#]*|.")
#: The first and the last character of what stays as it is, and of no other token.
_LAST = frozenset("{}[], ")
_FIRST = _LAST | frozenset("-0123456789")
_TOP = re.compile(r"([a-z_]+):(?: (\S.*))?")
#: Text outside of brackets may hold more, as names of operators and ids of tests do.
_PLAIN = r"[A-Za-z_](?:[\w./+\[\]()-]|::(?=\w))*(?: [\w./+\[\]()-]+)*"
_BELOW = re.compile(rf"  (?:- |({_PLAIN}|{_QUOTED}): )([{{\[].*)")
#: YAML reads no longer key than 1,024.
_LONGEST_KEY = 1000


class _Unusual(ValueError):
    """The text is not as this package writes it."""


def read(text: str) -> dict[str, Any] | None:
    """What a document holds, as YAML reads it; None where it is not written as this package writes.

    Equal lines are one and the same object, so what is returned must not be changed.
    """
    lines = text.split("\n")
    if not "".join(lines).isprintable():
        return None
    try:
        return dict(_unique([(name, _value(value, below)) for name, value, below in _entries(lines)])) or None
    except (ValueError, RecursionError):
        return None


def _entries(lines: Sequence[str]) -> list[tuple[str, str | None, list[str]]]:
    """Each name with its value, or with the lines below it; comments are left out."""
    entries: list[tuple[str, str | None, list[str]]] = []
    for line in lines:
        if not line or ("#" in line and line.lstrip(" ")[0] == "#"):
            continue
        if line.startswith("  ") and entries:
            entries[-1][2].append(line)
        elif (top := _TOP.fullmatch(line)) is not None:
            entries.append((_word(top[1]), top[2], []))
        else:
            raise _Unusual
    return entries


def _value(value: str | None, below: Sequence[str]) -> object:
    if value is not None:
        if below:
            raise _Unusual
        return _flow(value) if value[0] in "{[" else _scalar(value)
    pairs = [_below(line) for line in below]
    if not pairs or len({name is None for name, _ in pairs}) > 1:
        raise _Unusual
    return [one for _, one in pairs] if pairs[0][0] is None else dict(_unique(pairs))


@lru_cache(maxsize=2048)
def _below(line: str) -> tuple[str | None, object]:
    """An entry of a list, or of a mapping with its key."""
    found = _BELOW.fullmatch(line)
    if found is None:
        raise _Unusual
    key = found[1]
    if key is None:
        return None, _flow(found[2])
    if len(key) > _LONGEST_KEY:
        raise _Unusual
    return _unquoted(key) if key[0] == "'" else _word(key), _flow(found[2])


def _flow(text: str) -> object:
    """What stands in braces or brackets on one line."""
    tokens = _TOKEN.findall(text)
    return _decode()("".join([one if one[0] in _FIRST and one[-1] in _LAST else _as_json(one) for one in tokens]))


@lru_cache(maxsize=8192)
def _as_json(token: str) -> str:
    if token == ": ":
        return token
    if token[0] != "'":
        return json.dumps(_resolved(token.removesuffix(": "))) + (": " if token[-1] == " " else "")
    if not 1 < len(token) < _LONGEST_KEY:
        raise _Unusual
    return json.dumps(_unquoted(token))


def _unquoted(quoted: str) -> str:
    return quoted[1:-1].replace("''", "'")


def _scalar(text: str) -> object:
    if re.fullmatch(_QUOTED, text):
        return _unquoted(text)
    if re.fullmatch(_NUMBER, text):
        return json.loads(text)
    if not re.fullmatch(_PLAIN, text):
        raise _Unusual
    return _resolved(text)


def _word(text: str) -> str:
    word = _resolved(text)
    if not isinstance(word, str):
        raise _Unusual
    return word


@lru_cache(maxsize=4096)
def _resolved(text: str) -> object:
    """What YAML takes plain text for, if that is text or a yes or no."""
    import yaml

    if not re.fullmatch(r"-?[\w(].*", text):
        raise _Unusual
    tag = str(_resolver().resolve(yaml.ScalarNode, text, (True, False))).rpartition(":")[2]
    if tag == "bool":
        return text.lower() in ("yes", "true", "on")
    if tag != "str":
        raise _Unusual
    return text


@cache
def _resolver() -> Any:
    import yaml

    return yaml.resolver.Resolver()


@cache
def _decode() -> Callable[[str], object]:
    return json.JSONDecoder(object_pairs_hook=lambda pairs: dict(_unique(pairs))).decode


def _unique(pairs: list[tuple[Any, object]]) -> list[tuple[Any, object]]:
    """The pairs, if no name stands twice, which YAML refuses."""
    if len({name for name, _ in pairs}) != len(pairs):
        raise _Unusual
    return pairs
