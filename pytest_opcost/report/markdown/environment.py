"""The Lab's table of hardware and software, and what else decides a step's cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.gfm import plain, table
from pytest_opcost.report.machine import run_rows

if TYPE_CHECKING:
    from pytest_opcost.results import RunResults


def environment_section(run: RunResults) -> list[str]:
    """One table for the whole run: a row for each thing, and in it whatever the run's machines and devices have."""
    rows = run_rows(run)
    if not rows:
        return ["Nothing was measured.", ""]
    # A part is named once, above its rows.
    parts = ["", *(row.part for row in rows)]
    cells = [[row.part if row.part != above else "", row.name, plain(row.values[0])] for above, row in zip(parts, rows)]
    return [*table(["", "", ""], cells, left=3), ""]
