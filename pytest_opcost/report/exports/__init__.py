"""Results in the formats that others read: one file a format, each a function from a run to the file's text."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from pytest_opcost.report.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_opcost.report import Writer
    from pytest_opcost.results import RunResults

OPTION = "--opcost-export=FORMAT:PATH"


def writer_of(kind: str) -> Writer:
    """What writes a format of `values.EXPORTS`; its module is the only one that is imported."""
    module = import_module(f"pytest_opcost.report.exports.{kind.replace('-', '_')}")
    return partial(_write, module.export)


def _write(export: Callable[[RunResults], str], path: Path, run: RunResults) -> None:
    """Raises ReportError where the file cannot be written, ValueError for a figure that its format cannot hold."""
    # A check's name may hold half a surrogate pair, which no UTF-8 file can.
    write_whole(path, export(run).encode("utf-8", "replace"), OPTION)
