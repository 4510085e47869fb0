"""The forward phase of a step as a picture: a box for each call, an arrow for what one hands to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.drawing.diagram import Box, box_of_call, box_of_run, calls_of, cost_of, runs_of
from pytest_opcost.report.drawing.layers import layered
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
    from matplotlib.figure import Figure

    from pytest_opcost.flow import DataFlow

#: More calls than this are drawn as runs of modules.
MOST_BOXES = 120
_PITCH, _HEAD = 0.72, 0.62


def flow_figure(flow: DataFlow, total_us: float) -> Figure:
    """The forward phase from top to bottom, each call with its output, cost and share of `total_us`.

    Parameters and buffers are left out, so are calls that neither take from another one nor give to one, such as a
    counter. Of more than `MOST_BOXES` calls those that follow each other in a module are one box.
    """
    calls = calls_of(flow, "forward")
    boxes, edges, inputs = _boxes(flow, calls)
    layout = layered(len(boxes), edges, inputs)
    width = width_for(boxes, total_us)
    side = MARGIN + width / 2
    figure_width = max(layout.width * width + 2 * side, 5.2)
    left = (figure_width - layout.width * width) / 2
    figure, axes = canvas(figure_width, _HEAD + max(layout.depth, 1) * _PITCH)
    heading(axes, MARGIN, 0.2, f"Forward: {with_share(cost_of(flow, calls), total_us)} of all operators' time")
    legend = "the darker, the larger its share of that"
    if len(calls) > MOST_BOXES:
        legend += "; calls that follow each other in a module are one box"
    heading(axes, MARGIN, 0.42, legend, small=True)

    def at(place: tuple[float, int]) -> tuple[float, float]:
        return left + place[0] * width, _HEAD + (place[1] + 0.5) * _PITCH

    for route in layout.routes:
        (first_x, first_y), *passed, (last_x, last_y) = map(at, route)
        ends = (first_x, first_y + BOX_HEIGHT / 2), (last_x, last_y - BOX_HEIGHT / 2)
        # Straight past a box, bent only between the rows.
        around = [point for x, y in passed for point in ((x, y - BOX_HEIGHT / 2), (x, y + BOX_HEIGHT / 2))]
        paint_arrow(axes, [ends[0], *around, ends[1]])
    for box, place in zip(boxes, layout.places):
        paint_box(axes, *at(place), width, box, total_us)
    return figure


def _boxes(flow: DataFlow, calls: list[int]) -> tuple[list[Box], list[tuple[int, int]], list[int]]:
    """The boxes, the arrows between them, and which of the boxes are inputs: the first ones."""
    inside = set(calls)
    fed = {source for source, target in flow.edges if target in inside and flow.nodes[source].family == "input"}
    groups: list[tuple[int, ...]] = [(index,) for index in sorted(fed)]
    boxes = [box_of_call(flow.nodes[index]) for index in sorted(fed)]
    if len(calls) <= MOST_BOXES:
        linked = {end for edge in flow.edges if {*edge} <= inside | fed for end in edge}
        drawn = [index for index in calls if index in linked or not linked]
        groups += [(index,) for index in drawn]
        boxes += [box_of_call(flow.nodes[index]) for index in drawn]
    else:
        runs = runs_of(flow, calls, MOST_BOXES)
        groups += [run.calls for run in runs]
        boxes += [box_of_run(flow, run.module, run.calls) for run in runs]
    box_of = {index: box for box, group in enumerate(groups) for index in group}
    arrows = {
        (box_of[source], box_of[target]): None
        for source, target in flow.edges
        if source in box_of and target in box_of and box_of[source] != box_of[target]
    }
    return boxes, sorted(arrows), list(range(len(fed)))
