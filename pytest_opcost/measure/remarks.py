"""What a reader of the figures must know: what the steps show besides their costs, in words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.measure.rows import WALL_QUANTILE
from pytest_opcost.measure.subscribers import other_subscribers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.measure.aggregate import StepCosts
    from pytest_opcost.measure.devices import Device

#: A step's costs grow if those of each fifth of the steps lie above the fifth before, and by this much altogether.
GROWTH_PARTS, GROWTH = 5, 0.10


def remarks_on(device: Device, costs: StepCosts, warm: slice) -> Iterator[str]:
    """All that there is to say of a measurement, whose measured steps are `warm`."""
    yield from host_only_in_words(device)
    yield from growth_in_words(costs, warm)
    yield from losses_in_words(costs, warm)
    yield from negatives_in_words(costs)
    yield from subscribers_in_words(device)


def growth_in_words(costs: StepCosts, warm: slice) -> Iterator[str]:
    """Says if the steps became dearer one after the other, as those of a step do that keeps what it should not."""
    clock = costs.device_ns[warm] if costs.device_ns[warm].any() else costs.host_ns[warm]
    if len(clock) < 2 * GROWTH_PARTS:
        return
    parts = [float(np.quantile(part, WALL_QUANTILE)) for part in np.array_split(clock.sum(axis=1), GROWTH_PARTS)]
    grew = parts[-1] / parts[0] - 1 if parts[0] else 0.0
    if grew > GROWTH and all(one < two for one, two in pairwise(parts)):
        yield f"the step became dearer while it was measured, by {100 * grew:.0f} % in {len(clock)} steps"


def losses_in_words(costs: StepCosts, warm: slice) -> Iterator[str]:
    """Says if records of kernels are missing: a launch without its kernel, or a step with fewer than one like it.

    The second tells of what has no launches of its own, the kernels of a replayed CUDA graph.
    """
    hosted = [name not in costs.kernels for name in costs.names]
    alike: dict[bytes, int] = {}
    turns = [calls.tobytes() for calls in costs.calls[warm][:, hosted]]
    for turn, count in zip(turns, costs.device_events[warm].tolist()):
        alike[turn] = max(alike.get(turn, 0), count)
    fewer = costs.device_events[warm] < np.array([alike[turn] for turn in turns])
    unmatched = costs.unmatched[warm] > 0
    if any("StreamBeginCapture" in name for name in costs.names):
        # What is captured into a graph is launched then and runs later.
        unmatched[:] = False
    if lost := int(np.count_nonzero(fewer | unmatched)):
        yield (
            f"the profiler lost records of kernels in {lost} of {len(turns)} steps (pytorch#192021): "
            "device times may be too low"
        )


def negatives_in_words(costs: StepCosts) -> Iterator[str]:
    """Says if self times came out negative, which overlapping events or a clock that steps back make them."""
    if costs.negative_clamped:
        yield f"{costs.negative_clamped} self times came out negative and count as none: the host's clock is not steady"


def host_only_in_words(device: Device) -> Iterator[str]:
    """Says if a device's own time is not told by the profiler (MPS, pytorch#99037)."""
    kind = device.torch_device.type
    if device.profiler is None and kind != "cpu":
        yield f"host time only: torch's profiler sees no kernel on {kind}"


def subscribers_in_words(device: Device) -> Iterator[str]:
    """Says which other tool listens to the same GPU."""
    if device.torch_device.type == "cuda":
        yield from (
            f"{tool}: its own cost is in the figures, and kernels may be missing" for tool in other_subscribers()
        )
