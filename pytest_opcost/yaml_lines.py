"""The YAML that this package writes itself, one line a thing, read several times as fast as by a general reader.

Each flow mapping becomes JSON by putting quotes around its words, which Python reads in C. Only what means the same in
both is taken: for anything else, be it valid or damaged, there is no answer, and YAML has to be asked.
"""

from __future__ import annotations

import json
import re
from typing import Any

#: What is a string in YAML too, as PyYAML sees it: no number and no date begins with a letter, nor has it two dots.
_WORD = re.compile(r"([A-Za-z_(][\w.+/()<>=#-]*(?:(?::+| )[\w(][\w.+/()<>=#-]*)*)", re.ASCII)
_VERSION = re.compile(r"(?<=: )(\d+\.\d+\.[\w.+]*)", re.ASCII)
_TRUTHS = re.compile(r'"(?:true|false|null|yes|no|on|off)"', re.IGNORECASE)
#: In YAML a value stands apart from its colon, or it is none.
_NO_SPACE = re.compile('" *:(?! )')
_LINE = re.compile(
    r"(?!(?:true|false|null|yes|no|on|off):)(?P<key>[a-z_]+):(?: (?P<value>\{.*\}))?"  # a field, here or below
    r"|  - (?P<item>\{.*\})"  # of a list
    r"|  (?P<pair>(?:[\w./():<>=+ -]+|'[^'\"\\]*'): \{.*\})"  # of a mapping
    r"|(?:  )?#.*"
)


def read_lines(lines: list[str]) -> dict[str, Any] | None:
    """What lines hold that are fields of one mapping; None where they are not as this package writes them."""
    fields: list[tuple[str, str]] = []
    below: list[tuple[list[str], list[str]]] = []  # of each field without a value: items, or pairs
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        key, value, item, pair = match.groups()
        if key:
            fields.append((key, value))
            below.append(([], []))
        elif (text := item or pair) is not None:
            # Lines are read together: what is open at the end of one must not be closed in another.
            if not below or fields[-1][1] or not _whole(text):
                return None
            below[-1][item is None].append(text)
    try:
        document = _unique([(key, _value(value, *rest)) for (key, value), rest in zip(fields, below)])
    except ValueError:
        return None
    return document


def _whole(text: str) -> bool:
    count = text.count
    return count("{") == count("}") and count("[") == count("]") and count("'") % 2 == 0


def _value(text: str | None, items: list[str], pairs: list[str]) -> Any:
    """A field's value: on its own line, or in the lines below; raises ValueError where it is not one of the three."""
    if text is not None:
        # Only here are versions; splitting by what is in a pattern's group and joining by quotes puts quotes around it.
        return _flow("'".join(_VERSION.split(text)))
    if bool(items) == bool(pairs):
        raise ValueError(items)
    many = _flow(f"[{', '.join(items)}]" if items else f"{{{', '.join(pairs)}}}")
    if len(many) != len(items or pairs):
        raise ValueError(many)
    return many


def _flow(text: str) -> Any:
    """A list or a mapping; raises ValueError where JSON does not say the same as YAML."""
    if not text.isascii() or not text.isprintable() or '"' in text or "\\" in text:
        raise ValueError(text)
    parts = text.split("'")
    parts[::2] = map(_quoted, parts[::2])  # the others stand between single quotes: strings in any case
    quoted = '"'.join(parts)
    if _NO_SPACE.search(quoted):
        raise ValueError(text)
    return json.loads(quoted, object_pairs_hook=_unique)


def _quoted(text: str) -> str:
    text = '"'.join(_WORD.split(text))
    if _TRUTHS.search(text):
        text = text.replace('"true"', "true").replace('"false"', "false").replace('"null"', "null")
        if _TRUTHS.search(text):
            raise ValueError(text)
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError(pairs)
    return mapping
