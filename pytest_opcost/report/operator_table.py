"""The top operators of a profile as rows of a table, in plain text: every text report shows the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile, OpCost


def operator_rows(profile: CostProfile, top: int) -> tuple[list[str], list[list[str]]]:
    """Headers and rows of the `top` dearest operators and the rest: name and family first, then figures.

    FLOP/s are those that an operator reaches in its self time on the clock that counts.
    """
    device = profile.clock == "device"
    head, other = profile.top(top)
    times = ["host us", *(["device us"] if device else [])]
    return ["operator", "family", "calls", *times, "share", "MFLOP", "GFLOP/s"], [
        _row(op, profile, device=device) for op in (*head, *([other] if other else []))
    ]


def _row(op: OpCost, profile: CostProfile, *, device: bool) -> list[str]:
    flops, us = op.facts.flops if op.facts is not None else 0, profile.cost_us(op)
    times = [f"{op.self_host_us:,.1f}", *([f"{op.self_device_us:,.1f}"] if device else [])]
    return [
        op.name,
        op.family,
        str(op.calls),
        *times,
        f"{100 * op.share:.1f} %",
        f"{flops / 1e6:,.1f}" if flops else "",
        f"{flops / us / 1e3:,.1f}" if flops and us > 0 else "",
    ]
