"""A quiet allocator: glibc told to keep memory instead of mapping and unmapping every large temporary.

Out of the box glibc gives each block above 128 KiB (up to 32 MiB, adaptively) its own mapping, so that an operator with
a 4.7 MB temporary pays a thousand page faults at every call: most of the noise, and a good part of the time, of
memory-bound operators. The knobs are mallopt(3)'s.

What is left are accidents of placement, which `shifted_heap` takes in turns.
"""

from __future__ import annotations

import ctypes
import random
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
_LARGEST_MMAP_THRESHOLD = 32 * 1024 * 1024  # glibc refuses more: HEAP_MAX_SIZE / 2 on 64-bit systems
_KEEP = 1024 * 1024 * 1024
_GROW_BY = 64 * 1024 * 1024
_TOUCHED_BLOCKS = 16
_LINE = 64
_PADS, _LARGEST_PAD = 3, 1024 * 1024
_LARGEST_START = 4 * 1024 * 1024
_MADV_HUGEPAGE, _HUGE_PAGE = 14, 2 * 1024 * 1024


@cache
def quiet_allocator() -> bool:
    """Raise glibc's thresholds for this process, once; False where there is no glibc whose knobs could be turned."""
    if not keep_memory():
        return False
    prepare_heap()
    return True


def keep_memory() -> bool:
    """Tell glibc to take even large blocks from the heap, and to give nothing back; False where there is no glibc."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False  # musl has no mallopt
    settings = ((_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD), (_M_TRIM_THRESHOLD, _KEEP), (_M_TOP_PAD, _GROW_BY))
    return all(mallopt(knob, value) == 1 for knob, value in settings)


@contextmanager
def shifted_heap(turn: int) -> Iterator[None]:
    """Have what the body allocates lie elsewhere than in other turns, by up to 3 MiB, in whole cache lines.

    Where a temporary lies decides what falls together with it in a cache, which is worth up to 10 % of an operator's
    time and differs from process to process. Measured in many places, the best of them is nearly the same in all: the
    randomised layouts of Stabilizer (Curtsinger and Berger, 2013), for a minimum instead of a mean. Which places, is
    the same in every process.
    """
    libc = _libc()
    draw = random.Random(turn)
    pads = [libc.malloc(draw.randrange(_LINE, _LARGEST_PAD, _LINE)) for _ in range(_PADS)]
    try:
        yield
    finally:
        for pad in pads:
            libc.free(pad)


def heap_start(draw: random.Random) -> int:
    """The size of a block that lets the heap begin elsewhere, by up to 4 MiB in whole cache lines."""
    return draw.randrange(_LINE, _LARGEST_START, _LINE)


def prepare_heap() -> None:
    """Grow the heap, in huge pages if the kernel has them, and touch it, so that no measured step is the first to.

    Which of the machine's pages a process is given differs from process to process, and with it what falls together in
    a cache; of huge pages there are few to choose from.
    """
    libc = _libc()
    size = _LARGEST_MMAP_THRESHOLD // 2
    blocks = [block for _ in range(_TOUCHED_BLOCKS) if (block := libc.malloc(size))]
    for first, last in _heap():
        first, last = -(-first // _HUGE_PAGE) * _HUGE_PAGE, last // _HUGE_PAGE * _HUGE_PAGE
        # A kernel without huge pages refuses, and nothing is lost.
        libc.madvise(first, last - first, _MADV_HUGEPAGE)
    for block in blocks:
        ctypes.memset(block, 1, size)
        libc.free(block)


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
    libc.madvise.restype, libc.madvise.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return libc


def _heap() -> list[tuple[int, int]]:
    """Where the process's heap lies: addresses of its first byte and of what follows its last."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    spans = (line.split()[0].split("-") for line in lines if line.endswith("[heap]"))
    return [(int(first, 16), int(last, 16)) for first, last in spans]
