"""The dearest operators of a step, on either clock: ranked, and as the rows that every text report shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.report.quantities import share_text

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


def operator_rows(profile: CostProfile, clock: str, top: int) -> tuple[list[str], list[list[str]]]:
    """Headers and rows of that ranking in plain text: name and family first, then figures.

    FLOP/s are those that an operator reaches in its self time on this clock.
    """
    times = ["host us", *(["device us"] if clock == "device" else [])]
    return ["operator", "family", "calls", *times, "share", "MFLOP", "GFLOP/s"], [
        _cells(row, clock) for row in ranked(profile, clock, top)
    ]


def _cells(row: Ranked, clock: str) -> list[str]:
    flops = row.op.facts.flops if row.op is not None and row.op.facts is not None else 0
    return [
        row.name,
        row.family,
        str(row.calls),
        f"{row.host_us:,.1f}",
        *([f"{row.device_us:,.1f}"] if clock == "device" else []),
        share_text(row.share),
        f"{flops / 1e6:,.1f}" if flops else "",
        f"{flops / row.us / 1e3:,.1f}" if flops and row.us > 0 else "",
    ]
