"""The timed cost of each operator, shared out among the calls of the data flow."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.measure.exact import WatchedFlow


def with_flow(profile: CostProfile, watched: WatchedFlow, call_costs: Mapping[str, Sequence[float]]) -> CostProfile:
    """The profile with the data flow, each node with the self time of the operators that belong to its call.

    An operator's cost is divided as its calls were timed, first with first, second with second (`call_costs`; on a
    device that is by the kernels that each launched). Where it was not called equally often while it was watched, it is
    divided by the self times seen then; on a device evenly, since no kernels were watched. What belongs to no call,
    such as an autograd node that calls no operator, is in no node.
    """
    on_device = profile.clock == "device"
    calls: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for name, node, self_ns in watched.operators:
        calls[name].append((node, 1.0 if on_device else self_ns))
    costs = [0.0] * len(watched.flow.nodes)
    for op in profile.ops:
        seen, timed = calls.get(op.name, []), call_costs.get(op.name, ())
        if op.waits or not seen:
            continue
        weights = list(timed) if len(timed) == len(seen) and any(timed) else [weight for _, weight in seen]
        whole = sum(weights)
        for (node, _), weight in zip(seen, weights):
            if node >= 0 and whole > 0:
                costs[node] += profile.cost_us(op) * weight / whole
    nodes = tuple(replace(node, cost_us=cost) for node, cost in zip(watched.flow.nodes, costs))
    return replace(profile, flow=replace(watched.flow, nodes=nodes))
