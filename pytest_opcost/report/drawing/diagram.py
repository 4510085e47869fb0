"""What is drawn: boxes with a cost and arrows between them, made of a data flow's calls, or of runs of them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_opcost.flow import DataFlow, FlowNode

#: Characters of an operator's name, of a module's path, and of a list of names.
_NAME, _PATH, _LIST = 26, 26, 34
_BACKWARD = re.compile(r"_backward(_data)?$")


@dataclass(frozen=True, slots=True)
class Box:
    """One box: its title, the line below, and its cost in microseconds, None for what costs nothing by its nature."""

    title: str
    detail: str = ""
    cost_us: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Calls of one phase that follow each other in one module: the module's path, and the calls' indices."""

    module: str
    calls: tuple[int, ...]


def calls_of(flow: DataFlow, phase: str) -> list[int]:
    """The calls of one phase in their order."""
    return [index for index, node in enumerate(flow.nodes) if node.is_call and node.place.phase == phase]


def cost_of(flow: DataFlow, calls: Iterable[int]) -> float:
    """What some calls cost together, microseconds."""
    return sum((flow.nodes[index].cost_us for index in calls), 0.0)


def runs_of(flow: DataFlow, calls: Iterable[int], most: int) -> list[Run]:
    """Calls as runs of modules, as deep into the modules as `most` runs allow; one run of all if they never do."""
    calls = list(calls)
    deepest = max((flow.nodes[index].place.module.count(".") + 1 for index in calls), default=0)
    for depth in range(deepest, 0, -1):
        runs = _runs(flow, calls, depth)
        if len(runs) <= most:
            return runs
    return [Run("", tuple(calls))] if calls else []


def _runs(flow: DataFlow, calls: Sequence[int], depth: int) -> list[Run]:
    runs: list[tuple[str, list[int]]] = []
    for index in calls:
        module = at_depth(flow.nodes[index].place.module, depth)
        if not runs or runs[-1][0] != module:
            runs.append((module, []))
        runs[-1][1].append(index)
    return [Run(module, tuple(those)) for module, those in runs]


def at_depth(module: str, depth: int) -> str:
    """The first parts of a module's path."""
    return ".".join(module.split(".")[:depth])


def box_of_call(node: FlowNode) -> Box:
    """`convolution · conv1` above `f32[16,32,26,26]`; of several outputs the first."""
    first, *more = node.output.split(" ")
    detail = f"{first} +{len(more)}" if more else first
    if not node.is_call:
        return Box(_end_of(node.name), detail)
    title = f"{_begin_of(short_name(node))} · {_end_of(node.place.module)}".rstrip(" ·")
    return Box(title, detail, node.cost_us)


def box_of_run(flow: DataFlow, module: str, calls: Sequence[int]) -> Box:
    """The module's path above its operators, dearest first."""
    costs: Counter[str] = Counter()
    for index in calls:
        # The lane says that it is the backward.
        costs[_BACKWARD.sub("", short_name(flow.nodes[index]))] += flow.nodes[index].cost_us  # type: ignore[assignment]
    first, *more = (name for name, _ in costs.most_common())
    listed = _begin_of(first)
    if more and len(listed) + len(more[0]) < _LIST:
        listed = f"{listed}, {more.pop(0)}"
    return Box(
        _end_of(module) or "outside of modules", f"{listed} +{len(more)}" if more else listed, cost_of(flow, calls)
    )


def short_name(node: FlowNode) -> str:
    """The operator's name without torch's own namespace."""
    return node.name.removeprefix("aten::")


def _begin_of(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _end_of(path: str) -> str:
    return path if len(path) <= _PATH else f"…{path[1 - _PATH :]}"
