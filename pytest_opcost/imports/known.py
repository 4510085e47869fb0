"""What is known of where an imported profile was taken; what is not is said to be unknown, never guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.costs import Environment

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile

UNKNOWN = "unknown"
#: The row of a printed table that stands for operators which its totals count and its rows leave out.
NOT_PRINTED = "(rows that were not printed)"
#: The detail of an environment that says what the figures were read from, and its word for a table.
SOURCE, PRINTED = "source", "printed table"
#: The detail that says how a step's figures were made of several: where it is not there, each is the least of them.
FIGURES, MEANS = "figures", "means over steps"
#: No number of threads, where it is not known.
UNKNOWN_THREADS = 0


@dataclass(frozen=True, slots=True)
class Known:
    """What the user, or the file itself, tells of the machine; `steps` is how many steps were profiled together.

    None is for what nobody tells. `means` asks for means over the steps of a trace, which are all that a table has.
    """

    device: str | None = None
    device_name: str | None = None
    torch: str | None = None
    threads: int | None = None
    steps: int | None = None
    batch_size: int | None = None
    means: bool = False


def is_printed(profile: CostProfile) -> bool:
    """Whether the figures were read from a printed table."""
    return (SOURCE, PRINTED) in profile.environment.details


def has_means(profile: CostProfile) -> bool:
    """Whether the figures are means over the steps, which are more than the least."""
    return (FIGURES, MEANS) in profile.environment.details


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
