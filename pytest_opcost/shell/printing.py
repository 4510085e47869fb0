"""What subcommands print: lines of 80 columns or one JSON document, and complaints."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

from pytest_opcost.report.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def make_printable() -> None:
    """Let everything be printed: what the terminal cannot show, or a name that is no text, is escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def show_lines(lines: Iterable[str]) -> None:
    """Print lines as they are."""
    for line in lines:
        print(line)


def show_json(document: Any) -> None:
    """Print a document in plain ASCII, which every reader of JSON takes."""
    print(json.dumps(document, indent=1, allow_nan=False))


def complain(text: str) -> None:
    """Say on the error stream what is wrong."""
    first, *rest = text.splitlines() or [""]
    lines = [*wrapped(f"opcost: {first}", "  "), *(part for line in rest for part in wrapped(f"  {line}", "    "))]
    with contextlib.suppress(OSError):  # nobody listens there either
        print("\n".join(lines), file=sys.stderr)


#: More damaged files than this are counted.
_MOST_PROBLEMS = 5


def complain_of(problems: Sequence[str]) -> None:
    """Say what is wrong with several files, in full with the first few."""
    for problem in problems[:_MOST_PROBLEMS]:
        complain(problem)
    if more := problems[_MOST_PROBLEMS:]:
        complain(f"and {len(more)} more files: {', '.join(one.partition(': ')[0] for one in more[:_MOST_PROBLEMS])}...")
