"""A printed table -> the profile of a step, as far as a table can tell it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.costs import CostProfile, OpCost, with_ops
from pytest_opcost.imports.aggregated import added_up, per_step
from pytest_opcost.imports.known import FIGURES, MEANS, NOT_PRINTED, PRINTED, SOURCE, environment_of
from pytest_opcost.imports.marks import is_mark, is_step
from pytest_opcost.imports.old_names import RENAMED, with_namespace
from pytest_opcost.imports.printed.device import device_times
from pytest_opcost.imports.printed.rows import Row, missing_beyond, row_of
from pytest_opcost.measure.events import OVERHEAD
from pytest_opcost.report.quantities import digits

if TYPE_CHECKING:
    from pytest_opcost.costs import Environment
    from pytest_opcost.imports.known import Known
    from pytest_opcost.imports.printed.reading import PrintedTable

#: What only a GPU's operators are called; a recurrent layer asks on a CPU, too, whether cuDNN would take its input.
_ON_A_GPU = re.compile(r"(aten::)?_?(cudnn|miopen)_(?!is_acceptable)\w+|(cuda|hip)[A-Z]\w*|Cudnn\w*Backward\d*")


def profile_from_table(table: PrintedTable, known: Known, path: str) -> CostProfile:
    """What a step costs by a table; raises InputError where the table has no time of the CPU's in it.

    A table has sums over all steps: each figure is a mean. Steps are counted by the profiler's own mark, else by what
    is known; otherwise all is one step. What the profiler and its marks cost is left out, and so are kernels, which
    the operators that launched them have already.
    """
    remarks: list[str] = []
    rows = [row_of(cells, table, path) for cells in table.rows]
    marks = [row for row in rows if is_step(row.name) and row.total_us > 0]
    steps = sum(row.calls for row in marks)
    work = [row for row in rows if not is_mark(row.name) and not OVERHEAD.match(row.name)]
    ops, told = device_times(table, work)
    remarks += [_steps_in_words(steps, known.steps), *told, *_host_in_words(table, work)]
    negative = sum(op.self_host_us < 0 for op in ops)
    if negative:
        remarks.append(f"{negative} self times are negative in the table and count as none")
    ops = [replace(op, self_host_us=max(op.self_host_us, 0.0)) for op in ops]
    ops += _not_printed(table, rows, remarks)
    host_us = sum(op.self_host_us for op in ops)
    profile = CostProfile(
        environment=_environment(table, ops, known, remarks),
        steps=steps or known.steps or 1,
        ops=(),
        wall_us=sum(row.total_us for row in marks) or host_us,
        total_host_us=0.0,
        total_device_us=0.0,
        negative_clamped=negative,
    )
    if not marks:
        remarks.append("a table does not tell a step's time on the wall: host self times added up stand for it")
    named, renamed = with_namespace(added_up(ops))
    if renamed:
        remarks.append(RENAMED)
    if cut := sum(op.name.endswith("...") for op in named):
        names = "name is" if cut == 1 else "names are"
        remarks.append(f"{cut} {names} cut off in the table; rows of one visible name are added up")
    return per_step(replace(with_ops(profile, named), remarks=tuple(remarks)), profile.steps)


def _not_printed(table: PrintedTable, rows: list[Row], remarks: list[str]) -> list[OpCost]:
    """What the table's total of host self times has beyond its rows, as a row of its own."""
    total = table.totals.get("CPU")
    if total is None:
        if not table.ended:
            remarks.append("the table has no end: rows may be missing")
        return []
    missing = missing_beyond(total, [row.self_us for row in rows])
    if not missing:
        return []
    remarks.append(f"the table leaves out rows of {digits(100 * missing / total, count=2)} % of its host time")
    return [OpCost(NOT_PRINTED, "other", 0, missing, 0.0, 0.0)]


def _steps_in_words(marked: int, said: int | None) -> str:
    if marked:
        told = f"read from a printed table: each figure is a mean over {marked} step{'s' if marked > 1 else ''}"
        return told + (f", which it marks, and not over {said}" if said not in (None, marked) else "")
    if said is not None:
        return f"read from a printed table of {said} step{'s' if said > 1 else ''}, as was said: each figure is a mean"
    return "read from a printed table that does not tell how many steps it has: all that it has counts as one"


def _host_in_words(table: PrintedTable, rows: list[Row]) -> list[str]:
    if any(title.startswith("Self CPU") for title in table.columns.titles):
        return []
    return [
        "the table has no self times, as those of torch 1.0: an operator counts all that it calls as well, so that "
        "shares and ratios of operators that call each other are too high"
    ]


def _environment(table: PrintedTable, ops: list[OpCost], known: Known, remarks: list[str]) -> Environment:
    if table.columns.devices:
        # A column of the device's is there whenever the profiler was asked for it, even if nothing ran there.
        device = table.columns.devices[0].lower() if any(op.self_device_us > 0 for op in ops) else "cpu"
    elif any(_ON_A_GPU.fullmatch(op.name) for op in ops):
        remarks.append("host time only: the table has no column of the GPU's, though operators ran on one")
        device = "cuda"
    else:
        device = "cpu"
    return environment_of(known, device, **{SOURCE: PRINTED, FIGURES: MEANS})
