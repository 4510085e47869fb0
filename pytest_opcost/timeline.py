"""One measured step as its events lay in time, as a record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """One event: an operator or a runtime call on a thread of the host, or work of the device.

    `track` is `host 1`, `host 2`, ... or `device`; times are microseconds, the start from that of the step.
    """

    name: str
    kind: str
    track: str
    start_us: float
    duration_us: float
