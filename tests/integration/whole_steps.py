"""What tests of whole steps share, on any device."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_opcost.costs import CostProfile


def flops_by_family(cost: CostProfile) -> dict[str, int]:
    """FLOPs by family, of those that have any."""
    found: dict[str, int] = {}
    for op in cost.ops:
        assert op.facts is not None
        if op.facts.flops:
            found[op.family] = found.get(op.family, 0) + op.facts.flops
    return found


def in_two_threads(run: Callable[[], object]) -> None:
    """Run it in two new threads at once, to the end."""
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
