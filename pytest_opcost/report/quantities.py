"""Quantities as a reader takes them in: three digits and a unit that fits."""

from __future__ import annotations

from math import floor, log10

#: What stands where nothing is known.
NONE = "–"  # noqa: RUF001 - a dash, as tables are set


def digits(value: float, *, count: int = 3) -> str:
    """A figure with so many significant digits, never in powers of ten: `0.0123`, `3.25`, `1,240`."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{count}g}")
    return f"{rounded:,.{max(count - 1 - floor(log10(abs(rounded))), 0)}f}"


def _scaled(value: float, units: tuple[str, ...]) -> str:
    """The value in the first unit that leaves fewer than four digits, `value` being in `units[0]`."""
    for unit in units[:-1]:
        if float(f"{abs(value):.3g}") < 1e3:
            return f"{digits(value)} {unit}"
        value /= 1e3
    return f"{digits(value)} {units[-1]}"


def time_text(us: float) -> str:
    """Microseconds: `812 µs`, `23.3 ms`, `1.35 s`."""
    return _scaled(us, ("µs", "ms", "s"))


def short_time(us: float, micro: str = "us") -> str:
    """The same where there is no room for a nought, in ASCII unless asked otherwise: `812 us`, `23.3 ms`, `1.35 s`."""
    for limit, unit, scale in ((1e3, micro, 1.0), (1e6, "ms", 1e3)):
        if float(f"{us:.3g}") < limit:
            return f"{us / scale:.3g} {unit}"
    return f"{us / 1e6:.3g} s"


def flop_text(flops: float) -> str:
    """Floating point operations: `37.8 MFLOP`; a dash for none."""
    return _scaled(flops, ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP")) if flops else NONE


def rate_text(flops: float, us: float) -> str:
    """What was achieved by so many operations in so many microseconds: `42.9 GFLOP/s`; a dash where one is nothing."""
    return f"{flop_text(flops / us * 1e6)}/s" if flops and us > 0 else NONE


def share_text(share: float) -> str:
    """A part of a whole: `46.1 %`."""
    return f"{100 * share:.1f} %"


def accuracy_text(accuracy: float) -> str:
    """What part of a test set was told right, to a single image of 10,000: `98.95 %`."""
    return f"{100 * accuracy:.2f} %"


def change_text(fraction: float) -> str:
    """A relative change with its sign: `+12.3 %`, `−0.4 %`."""  # noqa: RUF002 - a minus sign, as tables are set
    # What rounds to nothing has no sign.
    if abs(fraction) < 0.0005:
        return "0.0 %"
    return f"{'+' if fraction > 0 else '−'}{abs(100 * fraction):.1f} %"  # noqa: RUF001


def band_text(band: float) -> str:
    """How large a relative change may be, up or down as a factor: `± 4.1 %`, `up to 12 times`."""
    return f"± {share_text(band)}" if band < 1 else f"up to {times_text(1 + band)}"


def times_text(factor: float) -> str:
    """A factor in words: `1.4 times`, `12 times`."""
    return f"{digits(factor, count=2)} times"
