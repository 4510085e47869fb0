"""What is exact about a step: passes of their own, apart from the timed one, since they cost time and memory."""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_opcost.facts import COMPARED, OpFacts, agreed
from pytest_opcost.families import family_of
from pytest_opcost.measure.calling import call
from pytest_opcost.measure.compat import next_sequence_number
from pytest_opcost.measure.events import recorded, step_mark
from pytest_opcost.measure.exact.attribute import Joined, attributed, operator_calls
from pytest_opcost.measure.exact.kernels import full_names, short_counts
from pytest_opcost.measure.exact.primitives import primitives_logged
from pytest_opcost.measure.exact.recording import allocations_of_steps, facts_of_steps
from pytest_opcost.measure.exact.streams import STDERR, caught

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_opcost.flow import DataFlow
    from pytest_opcost.measure.devices import Device

#: What the allocator warns of at every first profile with allocations, whatever the step does.
_UNKNOWN_BLOCK = re.compile(rb"\[W[^\n]*Memory block of unknown size[^\n]*\n")

#: How many steps each pass runs: what differs between two of them varies.
STEPS = 2


@dataclass(frozen=True, slots=True)
class WatchedFlow:
    """The data flow of a step, without costs, and all of its operator calls in their order: each one's name, the node
    that it belongs to (-1 for none), and its self time while it was watched, in nanoseconds.
    """

    flow: DataFlow
    operators: tuple[tuple[str, int, int], ...]


@dataclass(slots=True)
class ExactFacts:
    """The facts of each operator by its name, the full names of the kernels that they name in short, how many nodes
    autograd makes in a step (None where that varies), and the data flow (None where there is none to show).
    """

    ops: dict[str, OpFacts] = field(default_factory=dict)
    kernel_names: dict[str, str] = field(default_factory=dict)
    autograd_nodes: int | None = None
    flow: WatchedFlow | None = None


def exact_facts(step: Callable[[], object], device: Device, *, autotuned: bool = False) -> ExactFacts:
    """The exact facts of every operator of a step, from runs of it as it is and runs seen from the dispatcher.

    `autotuned`: the kernels of convolutions are picked by timing them (cuDNN's benchmark mode), so that they vary from
    process to process. Raises MeasureError where the step raises or another profiler is at work.
    """
    __tracebackhide__ = True
    clean, nodes = _as_it_is(step, device)
    inside, flow = _from_the_dispatcher(step, device)
    # Not from the dispatcher: while it watches, autograd adds up gradients in new memory instead of in place.
    memory = _allocations(step, device)
    nothing, exact = OpFacts(), ExactFacts(autograd_nodes=nodes.pop() if len(nodes) == 1 else None, flow=flow)
    for name in {name: None for seen in clean for name in seen}:
        seen = agreed([one.get(name, nothing) for one in clean])
        more = agreed([one.get(name, nothing) for one in inside])
        own = agreed([one.get(name, nothing) for one in memory])
        varying = {*seen.varying, *more.varying, *own.varying}
        if autotuned and family_of(name) == "conv":
            varying.add("kernels")
        if own.alloc_bytes and device.torch_device.type != "cpu":
            # A caching allocator may hand out a larger block than asked for, if it has one.
            varying.add("alloc_bytes")
        exact.ops[name] = replace(
            seen,
            flops=more.flops,
            kernels=short_counts(seen.kernels) or more.kernels,
            alloc_bytes=own.alloc_bytes,
            places=more.places,
            varying=tuple(fact for fact in COMPARED if fact in varying),
        )
        exact.kernel_names |= full_names(kernel for kernel, _ in seen.kernels)
    return exact


def _as_it_is(step: Callable[[], object], device: Device) -> tuple[list[dict[str, OpFacts]], set[int]]:
    """The facts of each step, and how many autograd nodes they made: one number, unless they differ."""
    __tracebackhide__ = True
    nodes = set()
    device.synchronize()
    with recorded(device.profiler, inputs=True) as profile:
        for _ in range(STEPS):
            before = next_sequence_number()
            with step_mark():
                call(step)
            nodes.add(next_sequence_number() - before)
            # Outside of the step, whose own synchronisations are counted.
            device.synchronize()
    return facts_of_steps(profile[0]), nodes


def _allocations(step: Callable[[], object], device: Device) -> list[dict[str, OpFacts]]:
    __tracebackhide__ = True
    with caught(STDERR, _UNKNOWN_BLOCK), recorded(None, allocations=True) as profile:
        for _ in range(STEPS):
            with step_mark():
                call(step)
    device.synchronize()
    return allocations_of_steps(profile[0])


def _from_the_dispatcher(
    step: Callable[[], object], device: Device
) -> tuple[list[dict[str, OpFacts]], WatchedFlow | None]:
    """The facts of each step, and the data flow of the last one."""
    __tracebackhide__ = True
    # Torch with them: the other files of this room do without.
    from pytest_opcost.measure.exact.dispatch import DispatchWatch
    from pytest_opcost.measure.exact.flow import FlowRecorder

    logged = primitives_logged() if device.torch_device.type == "cpu" else nullcontext()
    with recorded(None) as profile, logged as log:
        watch, recorder = DispatchWatch(log), FlowRecorder()
        for turn in range(STEPS):
            with step_mark(), watch.watching(recorder if turn == STEPS - 1 else None):
                call(step)
    device.synchronize()
    joined = Joined.of(profile[0])
    flow = recorder.flow()
    if flow is None:
        return attributed(joined, watch.calls), None
    operators = (
        (name, recorder.node_of.get(at, -1), ns) for name, at, ns in operator_calls(joined, watch.calls, STEPS - 1)
    )
    return attributed(joined, watch.calls), WatchedFlow(flow, tuple(operators))
