"""Several measurements of one step -> one: rounds as medians, a round's repetitions as means, times with the exact
facts that another one found.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean, median
from typing import TYPE_CHECKING

from pytest_opcost.costs import with_ops
from pytest_opcost.facts import agreed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_opcost.costs import CostProfile, OpCost


#: How many times both sides of a pair run each test, at least. On a CPU their means differ by half as much as single
#: measurements of as many steps did, in other hours: in LeNet's training, batch 16, by 0.3 and 0.4 % instead of 0.9 and
#: 1.1 in convolutions, 1.5 instead of 2.3 in products, 2.0 instead of 4.9 in pooling (measured, AMD EPYC).
REPETITIONS = 4


def as_one(rounds: Sequence[CostProfile]) -> CostProfile:
    """Several rounds merged; a single one as it is."""
    return merged(rounds) if len(rounds) > 1 else rounds[0]


def averaged(repetitions: Sequence[CostProfile]) -> CostProfile:
    """What one process found of a step each time that it ran the test, as one round: means, since what differs is where
    memory happened to lie, and one place is worth as much as another. Each repetition's cost is kept as a sample.
    """
    return repetitions[0] if len(repetitions) == 1 else merged(repetitions, fmean)


def repetitions_of(one: CostProfile, together: int = 1) -> list[CostProfile]:
    """The inverse of `averaged`, as far as costs go, every so many repetitions `together` averaged again; the profile
    itself where it has no more than these. A rest that is fewer is left out.
    """
    count = max((len(op.samples) for op in one.ops), default=0)
    if count < 2 * together:
        return [one]

    def cost(op: OpCost, begin: int) -> OpCost:
        # What some of them lacked has no samples of all.
        us = fmean(op.samples[begin : begin + together]) if len(op.samples) == count else one.cost_us(op)
        host, device = (op.self_host_us, us) if one.clock == "device" else (us, op.self_device_us)
        return op.at(host, device, op.share, ())

    begins = range(0, count - together + 1, together)
    return [with_ops(one, [cost(op, begin) for op in one.ops]) for begin in begins]


def merged(rounds: Sequence[CostProfile], middle: Callable[[Sequence[float]], float] = median) -> CostProfile:
    """Several rounds of one step as one profile: medians over rounds, or what else is their `middle`, and each round's
    cost kept as a sample.

    An operator that is missing in some round keeps its row and is marked as varying.
    """
    tables = [profile.by_name() for profile in rounds]
    names = {name: None for table in tables for name in table}
    ops = []
    for name in names:
        rows = [table[name] for table in tables if name in table]
        if len(rows) == len(rounds) and all(row is rows[0] for row in rows):  # nothing to be merged
            one = rows[0]
            samples = tuple([profile.cost_us(one) for profile in rounds])
            ops.append(one.at(one.self_host_us, one.self_device_us, one.share, samples))
            continue
        varying = len(rows) < len(rounds) or len({row.calls for row in rows}) > 1 or any(row.varying for row in rows)
        ops.append(
            replace(
                rows[0],
                calls=round(_middle([row.calls for row in rows], median)),
                self_host_us=_middle([row.self_host_us for row in rows], middle),
                self_device_us=_middle([row.self_device_us for row in rows], middle),
                inclusive_host_us=_middle([row.inclusive_host_us for row in rows], middle),
                inclusive_device_us=_middle([row.inclusive_device_us for row in rows], middle),
                forward=_middle([row.forward for row in rows], middle),
                varying=varying,
                facts=agreed(known) if (known := [row.facts for row in rows if row.facts is not None]) else None,
                samples=tuple(profile.cost_us(table[name]) for profile, table in zip(rounds, tables) if name in table),
            )
        )
    first = rounds[0]
    nodes = {profile.autograd_nodes for profile in rounds if profile.autograd_nodes is not None}
    return with_ops(
        replace(
            first,
            wall_us=middle([profile.wall_us for profile in rounds]),
            load=middle([profile.load for profile in rounds]),
            pace_us=middle([profile.pace_us for profile in rounds]),
            negative_clamped=sum(profile.negative_clamped for profile in rounds),
            remarks=tuple({remark: None for profile in rounds for remark in profile.remarks}),
            autograd_nodes=nodes.pop() if len(nodes) == 1 else None,
            kernel_names=tuple(sorted({pair for profile in rounds for pair in profile.kernel_names})),
            flow=next((profile.flow for profile in rounds if profile.flow is not None), None),
        ),
        ops,
    )


def _middle(values: Sequence[float], middle: Callable[[Sequence[float]], float]) -> float:
    """Most of what rounds tell is the same in all of them."""
    first = values[0]
    return first if values.count(first) == len(values) else middle(values)


def with_facts_of(known: CostProfile, timed: CostProfile) -> CostProfile:
    """A profile of times alone, with what was exactly known of the same step."""
    facts = {op.name: op.facts for op in known.ops}
    ops = tuple(replace(op, facts=op.facts or facts.get(op.name)) for op in timed.ops)
    return replace(
        timed,
        ops=ops,
        cold=known.cold,
        timeline=known.timeline,
        # Those of other processes would tell of this one, which waits for them with a device of its own.
        remarks=known.remarks,
        autograd_nodes=known.autograd_nodes if timed.autograd_nodes is None else timed.autograd_nodes,
        kernel_names=tuple(sorted({*known.kernel_names, *timed.kernel_names})),
        flow=known.flow if timed.flow is None else timed.flow,
    )


def beside(old: CostProfile, rounds: Sequence[CostProfile], new: CostProfile) -> CostProfile:
    """These rounds as one, `new`, whose operators cost as much more than in `old` as they do in the median of the pairs
    that they make with the samples of that one.

    The medians of both sides may be of different pairs, between which a machine's pace may have doubled.
    """
    was, tables = old.by_name(), [one.by_name() for one in rounds]

    def paired(op: OpCost) -> OpCost:
        then = was[op.name].samples if op.name in was else ()
        now = [one.cost_us(table[op.name]) for one, table in zip(rounds, tables) if op.name in table]
        if len(then) != len(rounds) or len(now) != len(rounds) or min(*then, *now) <= 0:
            return op
        us = old.cost_us(was[op.name]) * median(two / one for one, two in zip(then, now))
        return replace(op, self_device_us=us) if new.clock == "device" else replace(op, self_host_us=us)

    return with_ops(new, map(paired, new.ops))
