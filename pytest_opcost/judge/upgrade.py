"""Comparing with another torch: the same work may run there under other names, in other pieces, by other kernels.

What one torch calls otherwise is matched by family and place, put together and judged by its time. That it has another
name is told and is no drift; what nothing took the place of is one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.costs import CostProfile, OpCost, with_ops
from pytest_opcost.facts import COMPARED
from pytest_opcost.judge.exact import exact_findings
from pytest_opcost.judge.matching import SUPPORTING, matched
from pytest_opcost.judge.verdict import Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.judge.matching import Match
    from pytest_opcost.judge.reference import Reference, Rules

#: Which kernel an operator runs is the other torch's choice. Apart from these, since one fact hides those behind it.
_KERNELS = "kernels"
_OTHERS = tuple(fact for fact in COMPARED if fact != _KERNELS)


def across(
    reference: Reference, rounds: Sequence[CostProfile], rules: Rules
) -> tuple[tuple[Finding, ...], Reference, list[CostProfile]]:
    """What differs exactly from another torch's reference, and both sides with the same work put together.

    Renamed operators, other kernels, and how often memory is allocated, viewed or filled are told and do not fail; nor
    does what went, unless cheaper fails. Times decide on all of these.
    """
    groups = matched(reference.profile, rounds[0])
    old, *new = (_put_together(profile, groups) for profile in (reference.profile, *rounds))
    found = [_told_only(one, rules) for one in exact_findings(old, new[0], _OTHERS)]
    known = {finding.op for finding in found}
    kernels = [replace(one, fails=False) for one in exact_findings(old, new[0], (_KERNELS,)) if one.op not in known]
    return (*map(_renamed, groups), *found, *kernels), replace(reference, profile=old), new


def _told_only(finding: Finding, rules: Rules) -> Finding:
    often = finding.kind in (Kind.NEW, Kind.GONE, Kind.CALLS)
    if often and finding.family in SUPPORTING:
        return replace(finding, fails=False)
    went = often and (finding.current or 0) < (finding.baseline or 0)
    return replace(finding, fails=finding.fails and (rules.cheaper_fails or not went))


def _renamed(group: Match) -> Finding:
    names = (", ".join(ops) for ops in (group.came, group.went))
    message = "{} now runs as {} (was {})".format(group.family, *names)
    return Finding(Kind.BACKEND, _name(group), group.family, message)


def _name(group: Match) -> str:
    """What a group is called: as the dearest of those that came."""
    return group.new[0].name


def _put_together(profile: CostProfile, groups: Sequence[Match]) -> CostProfile:
    """The profile with one row for each group, of nothing but its cost."""
    if not groups:
        return profile
    inside = {name for group in groups for name in group.names}
    rows = [op for op in profile.ops if op.name not in inside]
    return with_ops(profile, [*rows, *(row for group in groups for row in _row(profile, group))])


def _row(profile: CostProfile, group: Match) -> Iterator[OpCost]:
    ops = [op for op in profile.ops if op.name in group.names]
    if not ops:
        return
    cost = sum(map(profile.cost_us, ops))
    alike = len({len(op.samples) for op in ops}) == 1
    yield OpCost(
        name=_name(group),
        family=group.family,
        calls=1,  # in other pieces, it is called as often as it likes
        self_host_us=sum(op.self_host_us for op in ops),
        self_device_us=sum(op.self_device_us for op in ops),
        share=0.0,
        forward=sum(op.forward * profile.cost_us(op) for op in ops) / cost if cost > 0 else ops[0].forward,
        varying=any(op.varying for op in ops),
        samples=tuple(map(sum, zip(*(op.samples for op in ops)))) if alike else (),
    )
