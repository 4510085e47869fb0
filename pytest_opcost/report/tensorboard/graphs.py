"""The data flow of a step as TensorBoard's graph: operators grouped by module, shapes on edges, times as colours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, NodeExecStats, NodeOutput, StepStats
from tensorboard.compat.proto.tensor_description_pb2 import TensorDescription
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.flow import DataFlow, FlowNode

_SHAPE = re.compile(r"\w+\[([\d,]*)\]")
#: The version of TensorFlow's graphs that torch.utils.tensorboard writes too.
_PRODUCER = 22


def graph_of(flow: DataFlow, device: str) -> tuple[GraphDef, RunMetadata]:
    """The graph, and the compute time of its nodes in microseconds, on `device` (`cpu`, `cuda:1`).

    The forward phase's operators stand in their modules' groups, the other phases each in a group of its own.
    """
    names = _names(flow)
    # TensorBoard colours by the part of a device's name behind the colon.
    kind, _, index = device.partition(":")
    place = f"/device:{'CPU' if kind == 'cpu' else 'GPU'}:{index or 0}"
    inputs: list[dict[str, None]] = [{} for _ in flow.nodes]
    for source, target in flow.edges:
        inputs[target][names[source]] = None
    nodes = [
        NodeDef(name=name, op=node.name, input=list(taken), device=place, attr=_attributes(node))
        for name, node, taken in zip(names, flow.nodes, inputs)
    ]
    costs = RunMetadata(step_stats=StepStats(dev_stats=[DeviceStepStats(device=place, node_stats=_stats(names, flow))]))
    return GraphDef(node=nodes, versions=VersionDef(producer=_PRODUCER)), costs


def _stats(names: Sequence[str], flow: DataFlow) -> list[NodeExecStats]:
    """The compute times as the view reads them, which takes a group's from its first start to its last end.

    So times are laid out group by group and not as the calls went, and a group's is the sum of its calls'.
    """
    stats, begun = [], 1  # to the view a start at 0 is none
    for name, node in sorted(zip(names, flow.nodes), key=lambda pair: pair[0].split("/")):
        # Whole microseconds are all that is read: what costs anything costs one at least. What costs nothing is told
        # with its output, or it would be drawn as not part of the step.
        lasts = max(1, round(node.cost_us)) if node.cost_us > 0 else 0
        times = {"all_start_micros": begun, "op_end_rel_micros": lasts, "all_end_rel_micros": lasts}
        stats.append(NodeExecStats(node_name=name, output=_outputs(node), **times))
        begun += lasts
    return stats


def _names(flow: DataFlow) -> list[str]:
    """One name for each node, unlike all others and all groups."""
    groups = [_group(node) for node in flow.nodes]
    taken = {"/".join(group[: length + 1]) for group in groups for length in range(len(group))}
    names = []
    for group, node in zip(groups, flow.nodes):
        # A parameter's name begins with its module's, which the group tells already.
        own = node.name.removeprefix(f"{node.place.module}.").rpartition("::")[2]
        base = "/".join([*group, _safe(own)])
        name, count = base, 1
        while name in taken:
            name, count = f"{base}_{count}", count + 1
        taken.add(name)
        names.append(name)
    return names


def _group(node: FlowNode) -> list[str]:
    phase, module = node.place.phase, node.place.module
    # The model itself goes by its class's name. A group around its own operators would take what its modules give and
    # give what they take: a knot, where a chain is meant.
    whole = "." not in module and module[:1].isupper()
    outside = whole or not module or node.family == "input"
    path = [] if outside else [_safe(part) for part in module.split(".")]
    return path if phase == "forward" else [_safe(phase), *path]


def _safe(name: str) -> str:
    """A name as TensorFlow allows it, without the slash that makes groups."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip("_-") or "unnamed"


def _attributes(node: FlowNode) -> dict[str, AttrValue]:
    told = {"family": node.family, "phase": node.place.phase, "module": node.place.module, "line": node.place.line}
    told |= {"output": node.output, "self_time": f"{node.cost_us:,.1f} us" if node.cost_us > 0 else ""}
    attributes = {name: AttrValue(s=value.encode("utf-8", "replace")) for name, value in told.items() if value}
    if shapes := _shapes(node):
        # The name under which TensorFlow keeps them, so that they are drawn on the edges.
        attributes["_output_shapes"] = AttrValue(list=AttrValue.ListValue(shape=shapes))
    return attributes


def _outputs(node: FlowNode) -> list[NodeOutput]:
    return [
        NodeOutput(slot=slot, tensor_description=TensorDescription(shape=shape))
        for slot, shape in enumerate(_shapes(node))
    ]


def _shapes(node: FlowNode) -> list[TensorShapeProto]:
    return [
        TensorShapeProto(dim=[TensorShapeProto.Dim(size=int(size)) for size in sizes.split(",") if size])
        for sizes in _SHAPE.findall(node.output)
    ]
