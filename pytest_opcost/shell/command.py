"""What a subcommand is made of."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

#: Exit statuses: 0 where all is well.
DRIFTED, MISUSED = 1, 2


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand: what its help says, its arguments, and what it does.

    `description` and `examples` are whole lines of 80 columns at most. `run` returns the exit status; it raises
    OpcostError where it cannot do what it was asked for.
    """

    name: str
    summary: str
    description: str
    examples: str
    declare: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
