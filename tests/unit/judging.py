"""Rounds with noise of a known size, for tests of the judge: drawn with a seed, so that each run judges the same."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from records import step

from pytest_opcost.costs import CostProfile, with_ops
from pytest_opcost.judge import Reference
from pytest_opcost.merging import merged

if TYPE_CHECKING:
    from collections.abc import Mapping


def noisy(cost: CostProfile, draw: random.Random, own: float = 0.01, common: float = 0.01) -> CostProfile:
    """A round of a step: each operator off by `own`, and all of them together by `common`, standard deviations."""
    together = draw.gauss(0, common)
    factors = {op.name: 1 + together + draw.gauss(0, own) for op in cost.ops}
    ops = tuple(
        replace(
            op, self_host_us=op.self_host_us * factors[op.name], self_device_us=op.self_device_us * factors[op.name]
        )
        for op in cost.ops
    )
    return with_ops(cost, ops)


def rounds(cost: CostProfile, count: int, seed: int = 0, **noise: float) -> list[CostProfile]:
    """So many rounds of a step."""
    draw = random.Random(seed)
    return [noisy(cost, draw, **noise) for _ in range(count)]


def reference(
    cost: CostProfile | None = None,
    sessions: tuple[int, ...] = (5,),
    seed: int = 1,
    ratios: Mapping[str, float] | None = None,
    **noise: float,
) -> Reference:
    """What so many rounds of a step lead to expect."""
    return Reference(merged(rounds(cost or step(), sum(sessions), seed, **noise)), sessions, ratios=ratios)
