"""The device's columns of a printed table: what of them is an operator's own, and what counts twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.costs import OpCost
from pytest_opcost.imports.printed.rows import missing_beyond
from pytest_opcost.report.quantities import digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.imports.printed.reading import PrintedTable
    from pytest_opcost.imports.printed.rows import Row

#: The row of device work whose operator the table does not have.
OF_NO_ROW = "(kernels of no printed operator)"
#: An operator's self time is its whole time, to the last digits of both: it calls no other.
_SAME = 0.01


def device_times(table: PrintedTable, rows: Sequence[Row]) -> tuple[list[OpCost], list[str]]:
    """The rows as costs, with the device's self times, and what is to say of them.

    Since torch 1.8 kernels are rows of their own, without time on the host, beside the operators that launched them:
    they are left out where operators have them, and so are users' annotations, which the device repeats. Before
    torch 1.6 there are no self times of the device: what calls no other operator has its whole time, others have none.
    """
    if not table.columns.devices:
        return [row.cost(0.0) for row in rows], []
    device = table.columns.devices[0]
    self_times = (f"Self {device}", f"Self {device} total")
    title = next((one for one in self_times if one in table.columns.titles), None)
    if title is None:
        return _of_leaves(table, device, rows)
    hosted: list[Row] = []
    kernels: list[Row] = []
    for row in rows:
        (hosted if row.total_us > 0 or row.cells.values[title] <= 0 else kernels).append(row)
    annotations = {row.name for row in hosted}
    kernels = [row for row in kernels if row.name not in annotations]
    ops = [row.cost(max(row.cells.values[title], 0.0)) for row in hosted]
    launched = sum(op.self_device_us for op in ops)
    if not launched:
        # A replayed CUDA graph: no operator launched what ran.
        return [*ops, *(row.cost(row.cells.values[title]) for row in kernels)], []
    total = table.totals.get(device, launched)
    missing = missing_beyond(total, [op.self_device_us for op in ops])
    if not kernels or not missing:
        return ops, []
    told = f"{digits(100 * missing / total, count=2)} % of the device's time belongs to no operator that is printed"
    return [*ops, OpCost(OF_NO_ROW, "other", 0, 0.0, missing, 0.0)], [told]


def _of_leaves(table: PrintedTable, device: str, rows: Sequence[Row]) -> tuple[list[OpCost], list[str]]:
    whole = f"{device} total"
    if whole not in table.columns.titles or not any(row.cells.values[whole] > 0 for row in rows):
        return [row.cost(0.0) for row in rows], []
    if not any(one.startswith("Self CPU") for one in table.columns.titles):
        told = f"{device} times are whole times too: they count what an operator calls"
        return [row.cost(row.cells.values[whole]) for row in rows], [told]
    ops = [row.cost(row.cells.values[whole] if row.self_us >= row.total_us * (1 - _SAME) else 0.0) for row in rows]
    told = (
        f"the table has no self times of {device}, as those before torch 1.6: operators that call no other have their "
        "whole time, others none"
    )
    return ops, [told]
