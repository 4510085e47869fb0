"""What operators that do other work took, then and now: no verdict, since such times do not compare, but told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.judge.verdict import OTHER_WORK

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile
    from pytest_opcost.judge.verdict import Finding


def with_times(findings: tuple[Finding, ...], old: CostProfile, new: CostProfile) -> tuple[Finding, ...]:
    """The findings; those of operators that do other work, and whose cost both sides know, with what they took."""
    if not findings:
        return findings
    was, now = ({op.name: one.cost_us(op) for op in one.ops} for one in (old, new))
    return tuple(_with_time(one, was.get(one.op, 0.0), now.get(one.op, 0.0)) for one in findings)


def _with_time(finding: Finding, was: float, now: float) -> Finding:
    told = finding.kind in OTHER_WORK and was > 0 and now > 0
    return replace(finding, took_us=(was, now)) if told else finding
