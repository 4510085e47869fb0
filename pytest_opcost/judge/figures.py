"""Figures as they are read."""

from __future__ import annotations

#: From so large a change on, ten times as much, the factor says more.
_MANY = 9.0


def unsigned(fraction: float) -> str:
    """A relative change as it is read, without its sign: `12 %`, `0.4 %`, `13.3 times` (as much)."""
    if fraction >= _MANY:
        return f"{1 + fraction:.3g} times"
    value = abs(100 * fraction)
    return f"{value:.0f} %" if value >= 10 else f"{value:.1f} %"


def signed(fraction: float) -> str:
    """The same with its sign; a factor has none."""
    sign = "-" if fraction < 0 else "+" if fraction < _MANY else ""
    return sign + unsigned(fraction)


def microseconds(value: float) -> str:
    """A time as it is read: `1,234 us`, `12.3 us`."""
    return f"{value:,.0f} us" if value >= 100 else f"{value:.3g} us"
