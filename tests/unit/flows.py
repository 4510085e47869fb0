"""Hand-made data flows for the unit tests."""

from __future__ import annotations

from pytest_opcost.facts import Place
from pytest_opcost.families import family_of
from pytest_opcost.flow import DataFlow, FlowNode


def call(name: str, module: str = "", us: float = 0.0, phase: str = "forward", output: str = "f32[2]") -> FlowNode:
    return FlowNode(f"aten::{name}", family_of(f"aten::{name}"), Place(phase, module), output, us)


def parameter(name: str, output: str = "f32[3]") -> FlowNode:
    return FlowNode(name, "parameter", Place("forward"), output)


def entering(name: str = "input", output: str = "f32[2,1]", phase: str = "forward") -> FlowNode:
    return FlowNode(name, "input", Place(phase), output)


def chain(*nodes: FlowNode) -> DataFlow:
    """Each node hands to the next one."""
    return DataFlow(nodes, tuple((index, index + 1) for index in range(len(nodes) - 1)))


#: A network of two layers that is trained, 1,000 us in all.
TRAINED = DataFlow(
    nodes=(
        entering(),  # 0
        parameter("conv.weight"),
        call("convolution", "conv", 200),
        call("relu", "Net", 50),
        parameter("block.fc.weight"),
        call("t", "block.fc", 5),  # 5
        call("addmm", "block.fc", 95, output="f32[2,5]"),
        call("nll_loss_forward", "", 10),
        call("nll_loss_backward", "", 10, "backward"),
        call("mm", "block.fc", 130, "backward"),
        call("threshold_backward", "Net", 40, "backward"),  # 10
        call("convolution_backward", "conv", 310, "backward"),
        call("add", "", 50, "backward"),
        call("add_", "", 20, "optimizer"),
        call("add_", "", 70, "optimizer"),
        call("item", "", 10, "other"),  # 15
    ),
    edges=(
        (0, 2), (1, 2), (2, 3), (4, 5), (5, 6), (3, 6), (6, 7), (7, 8), (8, 9), (3, 9), (9, 10), (3, 10), (10, 11),
        (0, 11), (11, 12), (1, 13), (12, 13), (4, 14), (9, 14), (7, 15),
    ),
)  # fmt: skip
