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
    document: dict[str, Any] = {}
    below: list[Any] | dict[str, Any] | None = None  # what the lines below a field hold
    key = ""
    try:
        for line in lines:
            match = _LINE.fullmatch(line)
            if match is None:
                return None
            if match["item"]:
                below = [] if below is None else below
                if not key or not isinstance(below, list):
                    return None
                below.append(_flow(match["item"]))
                document[key] = below
            elif match["pair"]:
                below = {} if below is None else below
                ((name, value),) = _flow("{" + match["pair"] + "}").items()
                if not key or not isinstance(below, dict) or name in below:
                    return None
                document[key] = below
                below[name] = value
            elif match["key"]:
                if match["key"] in document or (key and below is None):
                    return None
                key, below = ("", None) if match["value"] else (match["key"], None)
                if match["value"]:
                    document[match["key"]] = _flow(match["value"])
    except ValueError:
        return None
    return None if key and below is None else document


def _flow(text: str) -> dict[str, Any]:
    """A mapping on one line; raises ValueError where JSON does not say the same."""
    if not text.isascii() or not text.isprintable() or '"' in text or "\\" in text:
        raise ValueError(text)
    # Splitting by what is in the pattern's group and joining by quotes puts quotes around it.
    parts = "'".join(_VERSION.split(text)).split("'")
    parts[::2] = map(_quoted, parts[::2])  # the others stand between single quotes: strings in any case
    quoted = '"'.join(parts)
    if _NO_SPACE.search(quoted):
        raise ValueError(text)
    mapping: dict[str, Any] = json.loads(quoted, object_pairs_hook=_unique)
    return mapping


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
