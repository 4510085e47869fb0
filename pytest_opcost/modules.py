"""What each module of a model costs, phase by phase: a data flow's nodes added up along their modules' paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_opcost.flow import DataFlow, FlowNode

PHASES = ("forward", "backward", "optimizer", "other")


@dataclass(frozen=True, slots=True)
class ModuleCost:
    """A module and all that is called in it, its submodules included.

    `path` is dotted (`layer1.0.conv1`), empty for the whole step. A model's own calls stand under its class's name,
    next to its submodules. `phases_us` are microseconds in each of `PHASES`, `own_us` those of no submodule, all phases
    together. `parameters` are its own parameters and buffers, each with its type and shape, as far as the step reads
    them; `children` are in the order of their first calls.
    """

    path: str
    calls: int
    own_us: float
    phases_us: tuple[float, float, float, float]
    parameters: tuple[tuple[str, str], ...] = ()
    children: tuple[ModuleCost, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def total_us(self) -> float:
        """All phases together, microseconds a step."""
        return sum(self.phases_us)

    def phase_us(self, phase: str) -> float:
        """One phase of `PHASES`, microseconds a step."""
        return self.phases_us[PHASES.index(phase)]

    def share_of(self, total_us: float) -> float:
        """Its part of a whole, between 0 and 1; 0 of nothing."""
        return self.total_us / total_us if total_us > 0 else 0.0

    def walk(self) -> Iterable[tuple[int, ModuleCost]]:
        """This module and all below it, parents first, each with how deep it lies."""
        yield 0, self
        for child in self.children:
            yield from ((depth + 1, module) for depth, module in child.walk())


def module_tree(flow: DataFlow) -> ModuleCost:
    """The tree of all modules that are called in a step; its root is the step itself."""
    own: dict[str, list[FlowNode]] = {}
    parameters: dict[str, dict[str, str]] = {}
    children: dict[str, dict[str, None]] = {}

    def known(path: str) -> str:
        while path:
            parent = path.rpartition(".")[0]
            children.setdefault(parent, {})[path] = None
            path = parent
        return path

    for node in flow.nodes:
        if not node.is_call:
            module, _, name = node.name.rpartition(".")
            if node.family == "parameter":
                parameters.setdefault(module, {})[name] = node.output
                known(module)
        else:
            own.setdefault(node.place.module, []).append(node)
            known(node.place.module)

    def cost_of(path: str) -> ModuleCost:
        below = [cost_of(child) for child in children.get(path, ())]
        here = own.get(path, [])
        by_phase = (
            sum((node.cost_us for node in here if node.place.phase == phase), 0.0)
            + sum(child.phase_us(phase) for child in below)
            for phase in PHASES
        )
        forward, backward, optimizer, other = by_phase
        return ModuleCost(
            path=path,
            calls=len(here) + sum(child.calls for child in below),
            own_us=sum(node.cost_us for node in here),
            phases_us=(forward, backward, optimizer, other),
            parameters=tuple(parameters.get(path, {}).items()),
            children=tuple(below),
        )

    return cost_of("")
