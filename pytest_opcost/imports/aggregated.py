"""The events of a profile that was taken elsewhere -> its `CostProfile`, by the same way as opcost's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.costs import CostProfile, OpCost, with_ops
from pytest_opcost.errors import InputError
from pytest_opcost.imports.known import FIGURES, MEANS
from pytest_opcost.imports.marks import unmarked, with_steps
from pytest_opcost.imports.old_names import RENAMED, with_namespace
from pytest_opcost.measure.aggregate import aggregate
from pytest_opcost.measure.events import OPERATORS
from pytest_opcost.measure.exact.kernels import full_names
from pytest_opcost.measure.remarks import growth_in_words, losses_in_words, negatives_in_words
from pytest_opcost.measure.rows import op_rows, step_wall_us

if TYPE_CHECKING:
    from pytest_opcost.costs import Environment
    from pytest_opcost.measure.events import Events


def profile_of(
    events: Events, environment: Environment, path: str, steps: int | None = None, *, means: bool = False
) -> CostProfile:
    """What a step costs, as `measure` tells it of the same events; every marked step counts.

    `steps` is how many steps there are where no marks tell. `means` asks for what a printed table tells: all that was
    recorded, divided by the steps. Raises InputError where there is no operator.
    """
    if not np.isin(events.kind, [*OPERATORS]).any():
        raise InputError(
            f"{path}: no operator was recorded in it.\nFound: {len(events.kind):,} events of other kinds.\n"
            "Expected: operators, as ProfilerActivity.CPU records them while a step runs. Where a schedule was used, "
            "the trace must be of its active steps."
        )
    events, marks = with_steps(events)
    averaged = marks if means else 0
    if averaged:
        steps = averaged
        events, marks = with_steps(unmarked(events))
    costs, every = aggregate(events), slice(None)
    rows, renamed = with_namespace(op_rows(costs, every, None))
    remarks = [RENAMED] if renamed else []
    remarks += [*growth_in_words(costs, every), *losses_in_words(costs, every), *negatives_in_words(costs)]
    if averaged:
        remarks.insert(0, f"each figure is a mean over {averaged} step{'s' if averaged > 1 else ''}, as was asked")
    elif marks > 1:
        remarks.insert(0, _over_steps(marks, on_device=bool(costs.device_ns.any())))
    elif not marks:
        remarks.insert(0, _unmarked(steps))
    if averaged or not marks:
        environment = replace(environment, details=tuple(sorted({*environment.details, (FIGURES, MEANS)})))
    profile = CostProfile(
        environment=environment,
        steps=marks or steps or 1,
        ops=(),
        wall_us=step_wall_us(costs, every),
        total_host_us=0.0,
        total_device_us=0.0,
        negative_clamped=costs.negative_clamped,
        kernel_names=tuple(sorted(full_names(costs.kernels).items())),
        remarks=tuple(remarks),
    )
    return per_step(with_ops(profile, rows), 1 if marks else steps or 1)


def per_step(profile: CostProfile, steps: int) -> CostProfile:
    """The cost of one step of a profile that has several together."""
    if steps == 1:
        return profile
    ops = (
        replace(
            op,
            calls=round(op.calls / steps),
            self_host_us=op.self_host_us / steps,
            self_device_us=op.self_device_us / steps,
            inclusive_host_us=op.inclusive_host_us / steps,
            inclusive_device_us=op.inclusive_device_us / steps,
            varying=op.varying or op.calls % steps > 0,
        )
        for op in profile.ops
    )
    return with_ops(replace(profile, wall_us=profile.wall_us / steps), ops)


def added_up(rows: list[OpCost]) -> list[OpCost]:
    """One row for each name, where several rows have the same."""
    by_name: dict[str, OpCost] = {}
    for row in rows:
        if (one := by_name.get(row.name)) is not None:
            row = replace(
                one,
                calls=one.calls + row.calls,
                self_host_us=one.self_host_us + row.self_host_us,
                self_device_us=one.self_device_us + row.self_device_us,
                inclusive_host_us=one.inclusive_host_us + row.inclusive_host_us,
                inclusive_device_us=one.inclusive_device_us + row.inclusive_device_us,
            )
        by_name[row.name] = row
    return list(by_name.values())


def _over_steps(steps: int, *, on_device: bool) -> str:
    more = ", device time the mean of their middle half" if on_device else ""
    return f"host time is the least that each call took in {steps} steps{more}"


def _unmarked(steps: int | None) -> str:
    if steps is None:
        return "no step is marked: all that was recorded counts as one step"
    return f"no step is marked: all that was recorded counts as {steps} step{'s' if steps > 1 else ''}, as was said"
