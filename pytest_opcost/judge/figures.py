"""Figures as they are read."""

from __future__ import annotations


def percent(fraction: float) -> str:
    """A relative change as it is read: `12 %`, `0.4 %`; without its sign."""
    value = abs(100 * fraction)
    return f"{value:.0f} %" if value >= 10 else f"{value:.1f} %"


def signed(fraction: float) -> str:
    """A relative change with its sign."""
    return f"{'-' if fraction < 0 else '+'}{percent(fraction)}"


def microseconds(value: float) -> str:
    """A time as it is read: `1,234 us`, `12.3 us`."""
    return f"{value:,.0f} us" if value >= 100 else f"{value:.3g} us"
