"""Other tools that listen to the same GPU: CUPTI, from which torch's profiler has its kernels, may serve one alone."""

from __future__ import annotations

import os

#: Set in processes that NVIDIA's tools start: nsys, and whatever else is injected into CUDA programs (ncu, DCGM).
_MARKS = {
    "NSYS_PROFILING_SESSION_ID": "nsys profiles this process",
    "CUDA_INJECTION64_PATH": "a tool is injected into CUDA programs",
}


def other_subscribers() -> tuple[str, ...]:
    """What there is of such tools, each in words with the environment variable that tells of it."""
    return tuple(f"{words} ({name} is set)" for name, words in _MARKS.items() if os.environ.get(name))
