"""What is known of where an imported profile was taken; what is not is said to be unknown, never guessed."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_opcost.costs import Environment

UNKNOWN = "unknown"
#: No number of threads, where it is not known.
UNKNOWN_THREADS = 0


@dataclass(frozen=True, slots=True)
class Known:
    """What the user, or the file itself, tells of the machine; `steps` is how many steps were profiled together.

    None is for what nobody tells.
    """

    device: str | None = None
    device_name: str | None = None
    torch: str | None = None
    threads: int | None = None
    steps: int | None = None
    batch_size: int | None = None


def environment_of(known: Known, device: str, name: str = "", capability: str = "", **details: str) -> Environment:
    """An environment of what the user tells, else of what the file does: its device, the device's name and so on."""
    return Environment(
        device=known.device or device,
        device_name=known.device_name or name or UNKNOWN,
        capability=capability or UNKNOWN,
        torch=known.torch or UNKNOWN,
        threads=known.threads or UNKNOWN_THREADS,
        allocator=UNKNOWN,
        details=tuple(sorted(details.items())),
    )
