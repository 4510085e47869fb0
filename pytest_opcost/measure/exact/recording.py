"""What recordings of the step as it is show, operator by operator: inputs, kernels, synchronisations, allocations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from pytest_opcost.facts import OpFacts, counted
from pytest_opcost.measure.events import OPERATORS, Events, Kind
from pytest_opcost.measure.exact.kernels import short_kernel
from pytest_opcost.measure.nesting import by_thread, device_work, operators_around, step_of, step_spans


@dataclass(slots=True)
class _Seen:
    """What was seen of one operator in one step."""

    inputs: list[str] = field(default_factory=list)
    kernels: list[str] = field(default_factory=list)
    syncs: int = 0


def facts_of_steps(events: Events) -> list[dict[str, OpFacts]]:
    """For each marked step of a recording with inputs, each operator's facts; kernels have their full names.

    A kernel belongs to the operator that launched it, a synchronisation to the innermost operator around it. What
    waits for the device outside of every operator, such as a call of `torch.cuda.synchronize()`, stands under its own
    name.
    """
    rows = by_thread(events, {*OPERATORS, Kind.ANNOTATION, Kind.RUNTIME})
    names = [events.names[name] for name in events.name[rows].tolist()]
    kinds, owners, runtime = events.kind[rows].tolist(), operators_around(events, rows), int(Kind.RUNTIME)
    spans = step_spans(events)
    step = step_of(events.start[rows], spans).tolist()
    steps: list[dict[str, _Seen]] = [defaultdict(_Seen) for _ in spans[0]]
    for place, row in enumerate(rows.tolist()):
        if step[place] < 0:
            continue
        seen, owner = steps[step[place]], owners[place]
        if kinds[place] in OPERATORS:
            seen[names[place]].inputs.append(events.inputs[row])
        elif kinds[place] == runtime and names[place].endswith("Synchronize"):
            seen[names[owner if owner >= 0 else place]].syncs += 1
    launched, launcher, stray = device_work(events, rows)
    for row, place in zip(launched.tolist(), launcher.tolist()):
        if step[place] >= 0:
            steps[step[place]][names[place]].kernels.append(events.names[events.name[row]])
    # The host is done before the device is: a step's work may run until the next step begins.
    until_next = (spans[0], np.append(spans[0][1:], np.iinfo(np.int64).max))
    for row, at in zip(stray.tolist(), step_of(events.start[stray], until_next).tolist()):
        # Work that no operator launched, such as that of a replayed CUDA graph, stands under its own name.
        if at >= 0:
            kernel = events.names[events.name[row]]
            steps[at][short_kernel(kernel)].kernels.append(kernel)
    return [{name: _facts(one) for name, one in seen.items()} for seen in steps]


def allocations_of_steps(events: Events) -> list[dict[str, OpFacts]]:
    """For each marked step of a recording with allocations, what each operator allocated.

    An allocation belongs to the innermost operator around it; what is freed again is not taken off.
    """
    rows = by_thread(events, {*OPERATORS, Kind.ANNOTATION, Kind.MEMORY})
    owners, spans = np.array(operators_around(events, rows), dtype=np.int64), step_spans(events)
    steps: list[dict[str, int]] = [defaultdict(int) for _ in spans[0]]
    at = step_of(events.start[rows], spans)
    ours = np.flatnonzero((events.kind[rows] == Kind.MEMORY) & (owners >= 0) & (at >= 0))
    names = events.name[rows[owners[ours]]]
    for row, name, step in zip(rows[ours].tolist(), names.tolist(), at[ours].tolist()):
        steps[step][events.names[name]] += max(events.nbytes[row], 0)
    return [{name: OpFacts(alloc_bytes=allocated) for name, allocated in seen.items()} for seen in steps]


def _facts(seen: _Seen) -> OpFacts:
    # An operator without tensors, such as `aten::empty`, has no inputs worth a line.
    return OpFacts(inputs=counted(filter(None, seen.inputs)), kernels=counted(seen.kernels), syncs=seen.syncs)
