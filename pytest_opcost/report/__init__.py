"""Verdicts and profiles -> words and pictures: one reporter a file, no decisions."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_opcost.report.whole_files import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.options import Options
    from pytest_opcost.results import RunResults

    #: Writes what a run found to a file or folder; raises OSError or OpcostError where it cannot.
    Writer: TypeAlias = Callable[[Path, RunResults], None]


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was asked for: where to write it, by what, and the line that says where it is."""

    path: Path
    write: Writer
    told: str


def reports(options: Options, prefix: str = PREFIX) -> Iterator[Report]:
    """The reports to write; a reporter is only imported where it was asked for. `prefix` begins its option's name."""
    if options.json is not None:
        from pytest_opcost.report.json import write_json

        yield Report(options.json, write_json, f"results: {options.json}")
    for kind, file in options.exports:
        from pytest_opcost.report.exports import writer_of

        yield Report(file, writer_of(kind), f"{kind}: {file}")
    if options.html is not None:
        from pytest_opcost.report.page import write_page

        yield Report(options.html, partial(write_page, prefix=prefix), f"page: {options.html / 'index.html'}")
    if options.markdown is not None:
        from pytest_opcost.report.markdown import write_markdown

        yield Report(options.markdown, partial(write_markdown, prefix=prefix), f"report: {options.markdown}")
    if options.tensorboard is not None:
        from pytest_opcost.report.tensorboard import write_events

        told = f"TensorBoard: tensorboard --logdir {shlex.quote(str(options.tensorboard))}"
        yield Report(options.tensorboard, partial(write_events, prefix=prefix), told)
