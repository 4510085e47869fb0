"""A quiet allocator: glibc told to keep memory instead of mapping and unmapping every large temporary.

Out of the box glibc gives each block above 128 KiB (up to 32 MiB, adaptively) its own mapping, so that an operator with
a 4.7 MB temporary pays a thousand page faults at every call: most of the noise, and a good part of the time, of
memory-bound operators. The knobs are mallopt(3)'s.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
_LARGEST_MMAP_THRESHOLD = 32 * 1024 * 1024  # glibc refuses more: HEAP_MAX_SIZE / 2 on 64-bit systems
_KEEP = 1024 * 1024 * 1024
_GROW_BY = 64 * 1024 * 1024
_TOUCHED_BLOCKS = 16


@cache
def quiet_allocator() -> bool:
    """Raise glibc's thresholds for this process, once; False where there is no glibc whose knobs could be turned."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False  # musl has no mallopt
    settings = ((_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD), (_M_TRIM_THRESHOLD, _KEEP), (_M_TOP_PAD, _GROW_BY))
    if not all(mallopt(knob, value) == 1 for knob, value in settings):
        return False
    _touch_heap()
    return True


def _touch_heap() -> None:
    """Fault the heap's pages in now, so that no measured step is the first to touch them."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
    size = _LARGEST_MMAP_THRESHOLD // 2
    blocks = [libc.malloc(size) for _ in range(_TOUCHED_BLOCKS)]
    for block in filter(None, blocks):
        ctypes.memset(block, 1, size)
        libc.free(block)
