"""What the machine makes of all operators alike."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_opcost.costs import CostProfile

#: Operators below this share of the step say nothing of the machine.
SHARE = 0.01
#: The common factor of fewer operators than this would be one operator's own drift.
FEWEST_FOR_FACTOR = 4
#: A machine's slow spells cost up to this factor (measured, a shared 2-core machine: 1.6). Beyond it, it is the step
#: itself that changed, such as a model made four times as wide.
LARGEST_FACTOR = 1.6


def machine_factor(old: CostProfile, new: CostProfile, changed: Collection[str] = ()) -> float:
    """How much dearer all operators alike are, as the machine's doing; 1.0 where they are not, or are too few to say.
    Operators in `changed` do other work than before, and say nothing of it.

    Two medians of new / old over the operators that matter must agree: that over operators, which one dear operator
    cannot sway, and that over their time, which many cheap ones cannot. The one closer to 1 is taken.
    """
    was = old.by_name()
    changes = sorted(
        (math.log(new.cost_us(op) / old.cost_us(was[op.name])), was[op.name].share)
        for op in new.ops
        if op.name in was and op.name not in changed and was[op.name].calls == op.calls and was[op.name].share >= SHARE
        if min(new.cost_us(op), old.cost_us(was[op.name])) > 0
    )
    if len(changes) < FEWEST_FOR_FACTOR:
        return 1.0
    by_count = median(change for change, _ in changes)
    by_time = _weighted_median(changes)
    if by_count * by_time <= 0:
        return 1.0
    factor = math.exp(min(by_count, by_time, key=abs))
    return factor if 1 / LARGEST_FACTOR <= factor <= LARGEST_FACTOR else 1.0


def _weighted_median(pairs: Sequence[tuple[float, float]]) -> float:
    """The value, of sorted (value, weight) pairs, at which half of the weight is reached."""
    half, reached = sum(weight for _, weight in pairs) / 2, 0.0
    for value, weight in pairs:
        reached += weight
        if reached >= half:
            return value
    return 0.0
