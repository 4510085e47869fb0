"""A report as a Markdown file with its pictures beside it: the Lab's own sections, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.gfm import plain
from pytest_opcost.report.markdown.comparing import comparison_section
from pytest_opcost.report.markdown.environment import environment_section
from pytest_opcost.report.markdown.models import curves_section, flow_section, operators_section
from pytest_opcost.report.markdown.pictures import Pictures
from pytest_opcost.report.markdown.telling import saying_section, verdict_section
from pytest_opcost.report.whole_files import PREFIX, write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_opcost.results import RunResults


def write_markdown(path: Path, run: RunResults, prefix: str = PREFIX) -> None:
    """Write the report to `path` and its pictures to a folder beside it, named after the file.

    The file is replaced last, and only by a whole one: until then the old report shows its own pictures. Raises
    ReportError where that cannot be done.
    """
    option = f"{prefix}markdown=FILE"
    pictures = Pictures(path.with_name(f"{path.stem}-pictures"), option)
    lines = [
        "# What operators cost",
        "",
        f"Written by pytest-opcost from the run of {plain(run.started)}. Times are of one step, those of operators "
        "self times: without the operators that they call.",
        "",
        "## Environment",
        "",
        *environment_section(run),
        "## Results",
        "",
        "### 1. The model",
        "",
        *flow_section(run, pictures),
        *curves_section(run, pictures),
        *operators_section(run, pictures),
        "### 2. Batch sizes compared",
        "",
        *comparison_section(run, pictures),
        "## What the figures say",
        "",
        *saying_section(run),
        "## Against the baselines",
        "",
        *verdict_section(run),
    ]
    # A test's name may hold half a surrogate pair, which no UTF-8 file can.
    write_whole(path, ("\n".join(lines).rstrip() + "\n").encode("utf-8", "replace"), option)
    pictures.forget_older()
