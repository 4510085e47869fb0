"""The data flow of a test's steps and the modules in it, for each device at its largest batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_opcost.report.grouping import configuration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.flow import DataFlow
    from pytest_opcost.report.grouping import Group


@dataclass(frozen=True, slots=True)
class FlowView:
    """One data flow, of the configuration that is named, and the step's total on the clock that counts."""

    configuration: str
    flow: DataFlow
    total_us: float


def flow_views(group: Group) -> tuple[FlowView, ...]:
    """A flow for each device where one was recorded: batch sizes change its figures, not its shape."""
    last = {one.subject.device: one for one in group.members if one.profile.flow is not None}
    return tuple(
        FlowView(configuration(one.subject), one.profile.flow, one.profile.total_us)
        for one in last.values()
        if one.profile.flow is not None
    )


@dataclass(frozen=True, slots=True)
class ModuleRow:
    """A module in the order of its tree: how deep it lies, its name, and what all within it costs."""

    depth: int
    name: str
    cost_us: float


def module_rows(flow: DataFlow) -> tuple[ModuleRow, ...]:
    """The modules of a flow, each before those within it."""
    from pytest_opcost.modules import module_tree

    return tuple(_rows(module_tree(flow), 0))


def _rows(node: Any, depth: int) -> Iterator[ModuleRow]:
    yield ModuleRow(depth, node.name, node.cost_us)
    for child in node.children:
        yield from _rows(child, depth + 1)
