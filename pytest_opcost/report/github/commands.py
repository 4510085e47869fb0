"""Workflow commands: lines of a step's output that GitHub's runner reads: `::error file=a.py,line=3::message`."""

from __future__ import annotations

#: The percent sign first, since the others become one. As in the runner's own toolkit (actions/toolkit, command.ts).
_MESSAGE = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY = (*_MESSAGE, (":", "%3A"), (",", "%2C"))


def command(level: str, message: str, **properties: str | int | None) -> str:
    """One line for an annotation of a level, `error` or `warning`; properties are `file`, `line` and `title`.

    Whatever is in the texts, it is no second command and no second property. Properties that are None are left out.
    """
    given = [f"{name}={_escaped(str(value), _PROPERTY)}" for name, value in properties.items() if value is not None]
    return f"::{level}{' ' * bool(given)}{','.join(given)}::{_escaped(message, _MESSAGE)}"


def _escaped(text: str, rules: tuple[tuple[str, str], ...]) -> str:
    for found, written in rules:
        text = text.replace(found, written)
    return text
