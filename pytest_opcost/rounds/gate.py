"""Where the process of a round stops before its first test, until those that started with it stand there too.

It says as well when it has sent home all there is: what it takes to exit need not be waited for.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Imported before the gate where the run that asks has imported them: most of what a process takes to start.
SLOW_IMPORTS = ("torch", "torchvision")
#: Seconds between two looks at the gate, from either side: seldom enough not to disturb who measures meanwhile.
LOOK_EVERY = 0.02


class Gate(NamedTuple):
    """Three files in the folder of a round: the first tells that its process waits, the second that it may go on, the
    third that its tests are over."""

    waiting: Path
    opened: Path
    over: Path


def gate_of(folder: Path) -> Gate:
    """The gate of the round that has this folder."""
    return Gate(folder / "waiting", folder / "opened", folder / "over")


def imported() -> list[str]:
    """The slow imports that this process has done."""
    return [name for name in SLOW_IMPORTS if name in sys.modules]


def wait_at(gate: Gate, imports: Sequence[str]) -> None:
    """Import what is slow, then wait until the gate is open, or nobody is left who could open it."""
    for name in imports:
        try:
            importlib.import_module(name)
        except Exception:  # a test that needs it will say so, and better
            continue
    gate.waiting.touch()
    parent = os.getppid()
    while not gate.opened.exists() and os.getppid() == parent:
        time.sleep(LOOK_EVERY)
