"""Costs step by step -> one row an operator: the statistics over steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.costs import ColdStep, OpCost
from pytest_opcost.facts import OpFacts
from pytest_opcost.families import family_of
from pytest_opcost.measure.exact.kernels import short_kernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_opcost.measure.aggregate import StepCosts
    from pytest_opcost.measure.events import BoolArray, FloatArray, IntArray

#: A step's time on the wall is skewed by whatever else the machine does, always upwards: a low quantile is steadier
#: than a mean or a median.
WALL_QUANTILE = 0.1
COLD_OPERATORS = 3


def op_rows(costs: StepCosts, warm: slice, facts: Mapping[str, OpFacts] | None) -> tuple[OpCost, ...]:
    """One row for each operator of the measured steps, `warm`; microseconds a step.

    Host time is what each call took at its best over the steps, see `_host_ns`. Device time is the mean of the
    middle half of the steps: it is hardly skewed, and a median would be no finer than the card's clock, which ticks
    every 32 ns. Device work that no operator launched is a row under its kernel's name. `facts` None: they were not
    looked for.
    """
    calls = costs.calls[warm]
    varying = (calls != calls[:1]).any(axis=0)
    host_us = _host_ns(costs, warm, varying, costs.host_calls.self_ns) / 1000
    device_us = _middle_mean(costs.device_ns[warm]) / 1000
    inclusive_host_us = _host_ns(costs, warm, varying, costs.host_calls.inclusive_ns) / 1000
    inclusive_device_us = _middle_mean(_by_step(costs, costs.host_calls.inclusive_device_ns)[warm]) / 1000
    whole = costs.device_ns[warm].sum(axis=0)
    forward = costs.forward_device_ns[warm].sum(axis=0)
    hosted = whole == 0
    whole = np.where(hosted, costs.host_ns[warm].sum(axis=0), whole)
    forward = np.where(hosted, costs.forward_host_ns[warm].sum(axis=0), forward)
    rows = []
    for i, full_name in enumerate(costs.names):
        name = short_kernel(full_name) if full_name in costs.kernels else full_name
        if not calls[:, i].any():
            continue
        rows.append(
            OpCost(
                name=name,
                family=family_of(name),
                calls=round(float(np.median(calls[:, i]))),
                self_host_us=float(host_us[i]),
                self_device_us=float(device_us[i]),
                share=0.0,
                forward=float(forward[i] / whole[i]) if whole[i] else 1.0,
                varying=bool(varying[i]),
                facts=None if facts is None else facts.get(name, OpFacts()),
                inclusive_host_us=float(max(inclusive_host_us[i], host_us[i])),
                inclusive_device_us=float(max(inclusive_device_us[i], device_us[i])),
            )
        )
    return tuple(rows)


def _host_ns(costs: StepCosts, warm: slice, varying: BoolArray, call_ns: IntArray) -> FloatArray:
    """What an operator's calls in a step took at their best, added up: of shape (names,), in nanoseconds, as `call_ns`,
    what each call took.

    Host time is skewed by whatever else the machine does, always upwards, and a step is seldom spared as a whole: the
    least that each call took, its first, its second and so on, is steadier between processes than any quantile over
    steps. An operator that is not called equally often in every step (`varying`) has no such calls: the median over
    steps.
    """
    usual = np.median(_by_step(costs, np.maximum(call_ns, 0))[warm], axis=0)
    host_ns: FloatArray = np.where(varying, usual, _best_ns(costs, warm, call_ns).sum(axis=1))
    return host_ns


def _by_step(costs: StepCosts, call_ns: IntArray) -> IntArray:
    """What all calls of an operator took in a step: of shape (steps, names), as `call_ns`, what each call took."""
    calls, shape = costs.host_calls, costs.calls.shape
    # Weights are added up as float64, exact to 2**53 ns.
    sums = np.bincount(calls.step * shape[1] + calls.name, call_ns, minlength=shape[0] * shape[1])
    table: IntArray = sums.astype(np.int64).reshape(shape)
    return table


def _best_ns(costs: StepCosts, warm: slice, call_ns: IntArray) -> FloatArray:
    """The least that each call on the host took over the steps: of shape (names, most calls of one name in a step)."""
    # Less than nothing is a mistake of the clock's, not a best.
    taken = _of_warm(costs, warm) & (call_ns >= 0)
    cell, width = _cells(costs)
    least = np.full(len(costs.names) * width, np.iinfo(np.int64).max)
    np.minimum.at(least, cell[taken], call_ns[taken])
    best: FloatArray = np.where(least < np.iinfo(np.int64).max, least, 0).reshape(-1, width)
    return best


def call_costs(costs: StepCosts, warm: slice, clock: str) -> dict[str, list[float]]:
    """What each call of an operator in a step took, in the order of their starts, for the operators that are called
    equally often in every step; nanoseconds, of host time the least over the steps, of `device` time the mean.
    """
    if clock == "device":
        (cell, width), taken = _cells(costs), _of_warm(costs, warm)
        size, steps = len(costs.names) * width, len(costs.start[warm])
        table = np.bincount(cell[taken], costs.host_calls.device_ns[taken], size).reshape(-1, width) / max(steps, 1)
    else:
        table = _best_ns(costs, warm, costs.host_calls.self_ns)
    calls = costs.calls[warm]
    steady = np.flatnonzero((calls == calls[:1]).all(axis=0)).tolist()
    return {costs.names[i]: table[i, : calls[0, i]].tolist() for i in steady}


def _of_warm(costs: StepCosts, warm: slice) -> BoolArray:
    """Which of the host's calls lie in the measured steps."""
    taken: BoolArray = costs.host_calls.step >= len(costs.start) - len(costs.start[warm])
    return taken


def _cells(costs: StepCosts) -> tuple[IntArray, int]:
    """Each call's place in a table of names and ranks, row by row, and how long a row is."""
    calls = costs.host_calls
    width = int(calls.rank.max(initial=0)) + 1
    cell: IntArray = calls.name * width + calls.rank
    return cell, width


def _middle_mean(values: IntArray) -> FloatArray:
    """The mean of the middle half of each column, of shape (columns,)."""
    count = len(values)
    middle: FloatArray = np.sort(values, axis=0)[count // 4 : count - count // 4].mean(axis=0)
    return middle


def step_wall_us(costs: StepCosts, warm: slice) -> float:
    """A measured step's time on the wall, the 10th percentile, in microseconds."""
    return float(np.quantile(costs.end[warm] - costs.start[warm], WALL_QUANTILE)) / 1000


def cold_step(costs: StepCosts) -> ColdStep:
    """What the very first step cost, and its dearest operators."""
    host_ns, device_ns = costs.host_ns[0], costs.device_ns[0]
    dearest = [i for i in np.argsort(-host_ns, kind="stable").tolist() if family_of(costs.names[i]) != "runtime"]
    return ColdStep(
        wall_us=float(costs.end[0] - costs.start[0]) / 1000,
        host_us=float(host_ns.sum()) / 1000,
        device_us=float(device_ns.sum()) / 1000,
        ops=tuple(
            (costs.names[i], float(host_ns[i]) / 1000, float(device_ns[i]) / 1000)
            for i in dearest[:COLD_OPERATORS]
            if host_ns[i] > 0
        ),
    )
