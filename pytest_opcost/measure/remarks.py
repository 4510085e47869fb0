"""What a reader of the figures must know: what the steps show besides their costs, in words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.measure.rows import HOST_QUANTILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.measure.aggregate import StepCosts

#: A step's costs grow if those of each fifth of the steps lie above the fifth before, and by this much altogether.
GROWTH_PARTS, GROWTH = 5, 0.10


def growth_in_words(costs: StepCosts, warm: slice) -> Iterator[str]:
    """Says if the steps became dearer one after the other, as those of a step do that keeps what it should not."""
    clock = costs.device_ns[warm] if costs.device_ns[warm].any() else costs.host_ns[warm]
    if len(clock) < 2 * GROWTH_PARTS:
        return
    parts = [float(np.quantile(part, HOST_QUANTILE)) for part in np.array_split(clock.sum(axis=1), GROWTH_PARTS)]
    grew = parts[-1] / parts[0] - 1 if parts[0] else 0.0
    if grew > GROWTH and all(one < two for one, two in pairwise(parts)):
        yield f"the step became dearer while it was measured, by {100 * grew:.0f} % in {len(clock)} steps"
