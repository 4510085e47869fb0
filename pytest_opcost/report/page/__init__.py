"""A folder of pages with all results of a run, to be read from disk without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.page.folder import publish
from pytest_opcost.report.page.render import pages
from pytest_opcost.report.whole_files import PREFIX

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_opcost.results import RunResults


def write_page(folder: Path, run: RunResults, prefix: str = PREFIX) -> None:
    """Write `index.html` and what it links to; other files of the folder stay as they are.

    Raises ReportError where the folder cannot be written; then a report that was there before is still whole.
    """
    index, others = pages(run)
    publish(folder, index, others, f"{prefix}html=DIR")
