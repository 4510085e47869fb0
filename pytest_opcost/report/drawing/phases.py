"""Forward, backward and optimizer of a step as three lanes, module by module."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import networkx as nx

from pytest_opcost.report.drawing.diagram import at_depth, box_of_run, calls_of, cost_of, runs_of
from pytest_opcost.report.drawing.painting import (
    BOX_HEIGHT,
    MARGIN,
    canvas,
    heading,
    paint_arrow,
    paint_box,
    width_for,
    with_share,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from pytest_opcost.flow import DataFlow
    from pytest_opcost.report.drawing.diagram import Run

MOST_ROWS = 24
_LANES = ("forward", "backward", "optimizer")
_PITCH, _HEAD, _BETWEEN, _BULGE = 0.7, 0.62, 0.7, 0.3


def phases_figure(flow: DataFlow, total_us: float) -> Figure:
    """A row for each run of a module in the forward phase, from top to bottom; beside it the backward of that module,
    which goes from bottom to top, and the update of its parameters.

    Thin arrows are what the backward keeps of the forward, and gradients on their way to the optimizer. An optimizer
    that updates all parameters at once has one box. Costs are shares of `total_us`.
    """
    rows = runs_of(flow, calls_of(flow, "forward"), MOST_ROWS)
    depth = max((run.module.count(".") + 1 for run in rows if run.module), default=1)
    cells = {("forward", float(row)): list(run.calls) for row, run in enumerate(rows)}
    cells |= _backward(flow, rows, depth)
    cells |= _optimizer(flow, rows, depth)
    lanes = [lane for lane in _LANES if any(cell[0] == lane for cell in cells)]
    boxes = {cell: box_of_run(flow, _title(cell, cells, rows), calls) for cell, calls in cells.items()}

    width = width_for([*boxes.values()], total_us)
    sides = MARGIN + _BULGE
    height = _HEAD + (max((row for _, row in cells), default=0) + 1) * _PITCH
    figure, axes = canvas(2 * sides + max(len(lanes), 1) * (width + _BETWEEN) - _BETWEEN, height)

    def at(cell: tuple[str, float]) -> tuple[float, float]:
        return sides + width / 2 + lanes.index(cell[0]) * (width + _BETWEEN), _HEAD + (cell[1] + 0.5) * _PITCH

    for lane in lanes:
        middle, _ = at((lane, 0.0))
        cost = with_share(cost_of(flow, calls_of(flow, lane)), total_us)
        heading(axes, middle, 0.2, lane.capitalize(), centred=True)
        heading(axes, middle, 0.42, cost, small=True, centred=True)
    for source, target in _arrows(flow, cells):
        (x0, y0), (x1, y1) = at(source), at(target)
        if source[0] != target[0]:
            towards = 1 if x1 > x0 else -1
            paint_arrow(
                axes, [(x0 + towards * width / 2, y0), (x1 - towards * width / 2, y1)], thin=True, sideways=True
            )
        elif abs(source[1] - target[1]) <= 1:
            down = 1 if y1 > y0 else -1
            paint_arrow(axes, [(x0, y0 + down * BOX_HEIGHT / 2), (x1, y1 - down * BOX_HEIGHT / 2)])
        else:
            edge = -1 if source[0] == "forward" else 1
            outer = x0 + edge * (width / 2 + _BULGE)
            paint_arrow(
                axes,
                [(x0 + edge * width / 2, y0), (outer, (y0 + y1) / 2), (x1 + edge * width / 2, y1)],
                thin=True,
                sideways=True,
            )
    for cell, box in boxes.items():
        paint_box(axes, *at(cell), width, box, total_us)
    return figure


def _backward(flow: DataFlow, rows: list[Run], depth: int) -> dict[tuple[str, float], list[int]]:
    """The calls of the backward by row. It visits the modules in the opposite order, so that a module which is called
    several times meets its rows from the last one on; what belongs to no module stays with what was before it."""
    cells: dict[tuple[str, float], list[int]] = defaultdict(list)
    row = len(rows) - 1
    for index in calls_of(flow, "backward"):
        module = at_depth(flow.nodes[index].place.module, depth)
        if module:
            row = next((at for at in range(row, -1, -1) if rows[at].module == module), row)
        cells["backward", float(max(row, 0))].append(index)
    return dict(cells)


def _optimizer(flow: DataFlow, rows: list[Run], depth: int) -> dict[tuple[str, float], list[int]]:
    """The calls of the optimizer by the row whose module's parameters they update, and in the middle the others."""
    calls = set(calls_of(flow, "optimizer"))
    graph = nx.Graph()
    graph.add_nodes_from(sorted(calls))
    parameters: dict[int, set[str]] = defaultdict(set)
    for source, target in flow.edges:
        if source in calls and target in calls:
            graph.add_edge(source, target)
        elif target in calls and flow.nodes[source].family == "parameter":
            parameters[target].add(at_depth(flow.nodes[source].name.rpartition(".")[0], depth))
    row_of = {run.module: float(row) for row, run in reversed(list(enumerate(rows)))}
    cells: dict[tuple[str, float], list[int]] = defaultdict(list)
    rest: list[int] = []
    for together in nx.connected_components(graph):
        modules = {module for index in together for module in parameters[index]}
        row = row_of.get(modules.pop()) if len(modules) == 1 else None
        (rest if row is None else cells["optimizer", row]).extend(together)
    if rest:
        # Alone in the middle, else below what has a row.
        cells["optimizer", float(len(rows)) if cells else (len(rows) - 1) / 2] = rest
    return {cell: sorted(those) for cell, those in cells.items()}


def _title(cell: tuple[str, float], cells: Mapping[tuple[str, float], list[int]], rows: list[Run]) -> str:
    lane, row = cell
    if lane != "optimizer":
        return rows[int(row)].module if rows else ""
    if row == len(rows):
        return "of no single module"
    return rows[int(row)].module if sum(lane == "optimizer" for lane, _ in cells) > 1 else "all parameters"


def _arrows(
    flow: DataFlow, cells: Mapping[tuple[str, float], list[int]]
) -> list[tuple[tuple[str, float], tuple[str, float]]]:
    cell_of = {index: cell for cell, calls in cells.items() for index in calls}
    found = {
        (cell_of[source], cell_of[target]): None
        for source, target in flow.edges
        if source in cell_of and target in cell_of and cell_of[source] != cell_of[target]
    }
    return list(found)
