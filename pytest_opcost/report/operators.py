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
    head = [one for one in rows[:top] if one.us > 0]
    tail = rows[len(head) :]
    if not head or not tail:
        return tuple(head)
    sums = (sum(getattr(one, name) for one in tail) for name in ("calls", "host_us", "device_us", "us", "share"))
    return (*head, Ranked(OTHER, OTHER, *sums))


def has_inclusive(profile: CostProfile) -> bool:
    """Whether it is known what the operators took with all that they called."""
    return any(op.inclusive_host_us > 0 or op.inclusive_device_us > 0 for op in profile.ops)


def operator_rows(
    profile: CostProfile, clock: str, top: int, *, inclusive: bool = False, micro: str = "us"
) -> tuple[list[str], list[list[str]]]:
    """Headers and rows of that ranking in plain text: name and family first, then figures.

    Times are self times, and where `inclusive` asks for them and they are known, total ones, with all that an operator
    called; `micro` is how headers write their unit. FLOP/s are those that an operator reaches in its self time, where
    this clock is that of what computes.
    """
    inclusive = inclusive and has_inclusive(profile)
    shown = ("host", "device") if clock == "device" else ("host",)
    times = [f"{kind}{one} {micro}" for one in shown for kind in (("self ", "total ") if inclusive else ("",))]
    flops = ["MFLOP", "GFLOP/s"] if clock == profile.clock else []
    rows = []
    for row in ranked(profile, clock, top):
        cells = [row.name, row.family, str(row.calls)]
        for one in shown:
            cells.append(f"{row.host_us if one == 'host' else row.device_us:,.1f}")
            if inclusive:
                cells.append(f"{inclusive_us(row.op, one):,.1f}" if row.op is not None else "")
        rows.append([*cells, share_text(row.share), *(_flops(row) if flops else [])])
    return ["operator", "family", "calls", *times, "share", *flops], rows


def inclusive_us(op: OpCost, clock: str) -> float:
    """What an operator took with all that it called, in microseconds a step on a clock."""
    return op.inclusive_device_us if clock == "device" else op.inclusive_host_us


def _flops(row: Ranked) -> list[str]:
    flops = row.op.facts.flops if row.op is not None and row.op.facts is not None else 0
    rate = f"{flops / row.us / 1e3:,.1f}" if flops and row.us > 0 else ""
    return [f"{flops / 1e6:,.1f}" if flops else "", rate]
