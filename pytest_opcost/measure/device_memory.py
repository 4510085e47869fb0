"""A device's memory as a test finds it: nothing left of earlier tests, and begun at another place each time.

Where a tensor lies decides which of the card's caches and channels serve it. For small kernels that read and write
much, such as an optimizer's, that is worth up to 9 % of their time (measured, H200; 57 % where earlier tests' memory is
used again), and it is the same for the same tests in the same order: with a fixed place, one test added before another
would look like a drift of the other. So each test of each process draws a place of its own, and the judge learns from
the rounds of a baseline how much that is worth. The two sides of a pair draw the same.

A test's parameters stay where they are; what each step allocates, `shifted_memory` takes round.

What a fixture of several tests holds, such as a data set, keeps a few pages, and small tensors would fill the gaps in
them: all tests and repetitions of a process would lie at the one place that it happened to get. So these are filled.
"""

from __future__ import annotations

import gc
import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_opcost.measure.allocator import heap_start
from pytest_opcost.measure.compat import forget_compiled, forget_workspaces

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

_MIB = 1024 * 1024
#: The caching allocator asks the driver for whole pages; a request from 10 MB on gets a segment of its own.
_PAGE, _FEWEST_PAGES, _MOST_PAGES = 2 * _MIB, 5, 64
#: What the allocator rounds to, and how it serves requests of three sizes: up to 1 MB, up to 10 MB, and larger ones.
_GRAIN = 512
_PADS = ((2, _GRAIN, _MIB), (3, _MIB + _GRAIN, 9 * _MIB), (1, 5 * _PAGE, 16 * _PAGE))
#: Pads, and what lies beside them unused, take a tenth of this at most.
_ROOM = 1024 * _MIB


def fresh_memory(device: str, place: str | None = None) -> list[torch.Tensor]:
    """Give back what the device's allocator keeps for later, and begin elsewhere: the returned pads are to be kept
    until the test has ended. None where no memory can be had.

    `place` names where to begin: the same in every process. Without it a new place is drawn, whatever the user seeds.
    On a CPU it is the heap that begins elsewhere; what was compiled is forgotten, since after some models of one class
    torch compiles no more.
    """
    import torch

    kind = torch.device(device).type
    module: Any = getattr(torch, kind, None)
    draw = random.SystemRandom() if place is None else random.Random(place)
    gc.collect()
    if kind == "cpu":
        forget_compiled()
        return [torch.empty(heap_start(draw), dtype=torch.uint8)]
    if not hasattr(module, "empty_cache"):
        return []
    forget_workspaces(kind)
    module.empty_cache()
    start = _PAGE * draw.randint(_FEWEST_PAGES, _MOST_PAGES)
    try:
        return [torch.empty(size, dtype=torch.uint8, device=device) for size in [*_gaps(torch.device(device)), start]]
    except RuntimeError:  # out of memory, which the test itself may not be
        return []


def _gaps(device: torch.device) -> list[int]:
    """The sizes in bytes of what is free in the device's pages that are in use, each as one request for it would be:
    the allocator serves a request from the smallest gap that will do. None where a step may need them, or where they
    are not known.
    """
    import torch

    if device.type != "cuda":
        return []
    index = torch.cuda.current_device() if device.index is None else device.index
    try:
        segments = torch.cuda.memory_snapshot()  # type: ignore[no-untyped-call]
    except RuntimeError:  # the driver's own allocator tells nothing
        return []
    sizes: list[int] = []
    for segment in segments:
        if segment["device"] != index or segment["stream"] or any(segment.get("segment_pool_id", ())):
            continue  # where a test's tensors do not come from: another stream's, or a graph's
        for block in segment["blocks"]:
            if block["state"] == "inactive":
                most = _MIB if segment["segment_type"] == "small" else block["size"]
                whole, rest = divmod(block["size"], most)
                sizes += [most] * whole + [rest] * (rest > 0)
    sizes.sort(reverse=True)
    return sizes if has_room(device, beside=sum(sizes)) else []


def has_room(device: torch.device, beside: int = 0) -> bool:
    """Whether pads on the device would take nothing that a step may need, `beside` so many bytes of others."""
    import torch

    free = getattr(getattr(torch, device.type, None), "mem_get_info", None)
    return free is not None and free(device)[0] >= _ROOM + beside


@contextmanager
def shifted_memory(device: torch.device, turn: int) -> Iterator[None]:
    """Have what the body allocates on the device lie elsewhere than in other turns.

    A kernel's time is then the mean over many places instead of one that a process happened to get: between processes
    that begin elsewhere each time, optimizers' kernels differed by 1 to 3 % instead of 3 to 11, the median operator by
    0.2 % instead of 0.35 (measured, H200). As `shifted_heap` on the host. Which places, is the same in every process.
    """
    import torch

    draw = random.Random(turn)
    sizes = [draw.randrange(least, most + 1, _GRAIN) for count, least, most in _PADS for _ in range(count)]
    try:
        _pads = [torch.empty(size, dtype=torch.uint8, device=device) for size in sizes]
    except RuntimeError:  # the room went meanwhile
        _pads = []
    yield
