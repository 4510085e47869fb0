"""What operators took that do other work, or are called more or less often, then and now: told, and no verdict, since
such times do not compare."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.judge.verdict import OTHER_WORK, Kind

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile
    from pytest_opcost.judge.verdict import Finding

_TOLD = OTHER_WORK | {Kind.NEW, Kind.GONE, Kind.CALLS}


def with_times(findings: tuple[Finding, ...], old: CostProfile, new: CostProfile) -> tuple[Finding, ...]:
    """The findings; those of operators that do other work, or not as often, with what they took."""
    if not findings:
        return findings
    was, now = ({op.name: one.cost_us(op) for op in one.ops} for one in (old, new))
    return tuple(_with_time(one, was.get(one.op, 0.0), now.get(one.op, 0.0)) for one in findings)


def _with_time(finding: Finding, was: float, now: float) -> Finding:
    known = {Kind.NEW: now, Kind.GONE: was}.get(finding.kind, min(was, now))
    return replace(finding, took_us=(was, now)) if finding.kind in _TOLD and known > 0 else finding
