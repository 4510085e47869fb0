"""The dearest operators of a step, on either clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile, OpCost

OTHER = "other"


@dataclass(frozen=True, slots=True)
class Ranked:
    """One row of a ranking: an operator's self time in microseconds a step on one clock, and its share of that clock's
    total, between 0 and 1. `op` is None for the row of all others.
    """

    name: str
    family: str
    calls: int
    host_us: float
    device_us: float
    us: float
    share: float
    op: OpCost | None = None


def clocks(profile: CostProfile) -> tuple[str, ...]:
    """The clocks that a step can be looked at by, the one that is judged first."""
    return ("device", "host") if profile.clock == "device" else ("host",)


def ranked(profile: CostProfile, clock: str, top: int) -> tuple[Ranked, ...]:
    """The `top` operators with the most self time on a clock (`host` or `device`), then all others in one row.

    Waiting is left out, as it is in every total.
    """
    total = profile.total_device_us if clock == "device" else profile.total_host_us

    def row(op: OpCost) -> Ranked:
        us = op.self_device_us if clock == "device" else op.self_host_us
        share = us / total if total > 0 else 0.0
        return Ranked(op.name, op.family, op.calls, op.self_host_us, op.self_device_us, us, share, op)

    rows = sorted((row(op) for op in profile.ops if not op.waits), key=lambda one: (-one.us, one.name))
    rows = [one for one in rows if one.us > 0]
    head, tail = rows[:top], rows[top:]
    if not tail:
        return tuple(head)
    sums = (sum(getattr(one, name) for one in tail) for name in ("calls", "host_us", "device_us", "us", "share"))
    return (*head, Ranked(OTHER, OTHER, *sums))
