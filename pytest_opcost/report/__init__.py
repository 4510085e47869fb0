"""Verdicts and profiles -> words and pictures: one reporter a file, no decisions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.options import Options
    from pytest_opcost.results import RunResults

    #: Writes what a run found to a file or folder; raises OSError where it cannot.
    Writer: TypeAlias = Callable[[Path, RunResults], None]


def report_writers(options: Options) -> Iterator[tuple[Path, Writer]]:
    """Where to write which reports; a reporter is only imported where it was asked for."""
    if options.json is not None:
        from pytest_opcost.report.json import write_json

        yield options.json, write_json
    if options.html is not None:
        from pytest_opcost.report.page import write_page

        yield options.html, write_page
    if options.markdown is not None:
        from pytest_opcost.report.markdown import write_markdown

        yield options.markdown, write_markdown
    if options.tensorboard is not None:
        from pytest_opcost.report.tensorboard import write_events

        yield options.tensorboard, write_events
