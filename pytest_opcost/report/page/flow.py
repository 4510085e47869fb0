"""The data flow of a test's steps and the modules in it, for each device at its largest batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from pytest_opcost.report.grouping import configuration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_opcost.flow import DataFlow
    from pytest_opcost.modules import ModuleCost
    from pytest_opcost.report.grouping import Group

_WORTH_A_ROW = 0.0005


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


def drawn(view: FlowView) -> Markup:
    """The forward phase as a picture, each operator with what it costs."""
    from pytest_opcost.report.drawing import flow_figure
    from pytest_opcost.report.saving import as_svg

    title = f"Data flow of the forward phase, {view.configuration}"
    return Markup(as_svg(flow_figure(view.flow, view.total_us), title, scales=False))


def phases_drawn(view: FlowView) -> Markup:
    """Forward, backward and optimizer side by side; nothing where a step has no backward."""
    from pytest_opcost.report.drawing import phases_figure
    from pytest_opcost.report.saving import as_svg

    if not view.flow.has_backward:
        return Markup("")
    title = f"Forward, backward and optimizer, {view.configuration}"
    return Markup(as_svg(phases_figure(view.flow, view.total_us), title, scales=False))


def outside_us(view: FlowView, inside_us: float) -> float:
    """What the step's operators cost that are in no call of the flow, such as those that vary; 0 for a rounding."""
    rest = view.total_us - inside_us
    return rest if rest >= _WORTH_A_ROW * view.total_us else 0.0


def module_rows(view: FlowView) -> Iterable[tuple[int, ModuleCost]]:
    """The step and all modules in it, parents first, each with how deep it lies."""
    from pytest_opcost.modules import module_tree

    return module_tree(view.flow).walk()
