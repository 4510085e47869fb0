"""A row of a printed table -> what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.costs import OpCost
from pytest_opcost.errors import InputError
from pytest_opcost.families import family_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.imports.printed.columns import Cells
    from pytest_opcost.imports.printed.reading import PrintedTable

#: Totals and rows are rounded, to three digits behind the point of their unit: what is missing by less than this part
#: of a total, and this much a row, is not missing.
_ROUNDING, _ROUNDING_US = 0.001, 0.001


@dataclass(frozen=True, slots=True)
class Row:
    """A row: microseconds on the host in all its calls together, `total_us` with all that they call."""

    name: str
    calls: int
    self_us: float
    total_us: float
    cells: Cells

    def cost(self, device_us: float) -> OpCost:
        """The row as an operator's cost, its share left open."""
        return OpCost(self.name, family_of(self.name), self.calls, self.self_us, device_us, 0.0)


def row_of(cells: Cells, table: PrintedTable, path: str) -> Row:
    """What a row of the table costs; raises InputError where the table has no time of the CPU's.

    A row without a count of calls, as of an `EventList` that was not averaged, tells it by its mean.
    """
    values = cells.values
    total = values.get("CPU total")
    self_us = values.get("Self CPU", values.get("Self CPU total", total))
    if self_us is None:
        raise InputError(
            f"{path}, line {table.line}: this table has no time of the CPU's.\n"
            f"Found: {', '.join(table.columns.titles)}.\nExpected: a column Self CPU, or CPU total."
        )
    average = values.get("CPU time avg", values.get("CPU time", 0.0))
    total = self_us if total is None else total
    calls = cells.calls if cells.calls is not None else round(total / average) if average > 0 else 1
    return Row(cells.name, calls, self_us, total, cells)


def missing_beyond(total: float, parts: Sequence[float]) -> float:
    """What a total has beyond its parts; 0 where that is no more than rounding."""
    missing = total - sum(parts)
    return missing if missing > _ROUNDING * total + _ROUNDING_US * len(parts) else 0.0
