"""The data flow of one step, as a record: which operator call hands its result to which, and what each call costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_opcost.facts import Place


@dataclass(frozen=True, slots=True)
class FlowNode:
    """One call of an operator as torch's dispatcher sees it (`aten::convolution`), or where data enters the step.

    `family` is the operator's, `parameter` or `input` for tensors that were there before; `output` the tensors that it
    makes (`f32[16,32,26,26]`). `cost_us` is the self time of the operators within the call, microseconds a step on the
    clock that counts, 0 for what is no call.
    """

    name: str
    family: str
    place: Place
    output: str = ""
    cost_us: float = 0.0

    @property
    def is_call(self) -> bool:
        """Whether it is a call, and not a tensor that was there before."""
        return self.family not in ("parameter", "input")


@dataclass(frozen=True, slots=True)
class DataFlow:
    """The calls of one step in their order; an edge goes from the call that makes data to one that takes it.

    Both are told by their indices.
    """

    nodes: tuple[FlowNode, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()

    @property
    def has_backward(self) -> bool:
        """Whether gradients are computed in it."""
        return any(node.place.phase == "backward" for node in self.nodes)
