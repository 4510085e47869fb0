"""Which primitives oneDNN ran, with their implementations, and which routines of MKL: the CPU's kernel names.

Both print a line for every call to the C library's stdout when they are asked to; it is caught on its way to the user.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from typing import TYPE_CHECKING, Any

from pytest_opcost.measure.exact.streams import STDOUT, caught

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_LINE = re.compile(rb"(?:onednn_verbose|dnnl_verbose|MKL_VERBOSE)[, ][^\n]*\n")
_MKL_CALL = re.compile(r"MKL_VERBOSE (\w+)\(")


class PrimitiveLog:
    """The lines that oneDNN and MKL print."""

    def __init__(self, file: BinaryIO) -> None:
        self._libc = ctypes.CDLL(None)
        self._read_to = 0
        self._file = file

    def calls(self) -> list[str]:
        """The calls since the last time, in order: `convolution jit:avx512_core`, `reorder jit:blk`, `mkl sgemm`."""
        self._libc.fflush(None)
        text = os.pread(self._file.fileno(), 1 << 24, self._read_to)
        self._read_to += len(text)
        return [call for line in _LINE.findall(text) if (call := _call(line.decode(errors="replace")))]


@contextlib.contextmanager
def primitives_logged() -> Iterator[PrimitiveLog | None]:
    """A log of the primitives that run meanwhile; None where there is no oneDNN or no stdout to catch its lines from.

    Whatever else is printed to stdout reaches the user at the end.
    """
    import torch

    if not _is_there(torch.backends.mkldnn):
        yield None
        return
    with caught(STDOUT, _LINE) as file:
        if file is None:
            yield None
            return
        with _verbose(torch.backends.mkldnn), _verbose(torch.backends.mkl):
            yield PrimitiveLog(file)


def _is_there(library: Any) -> bool:
    return bool(library.is_available())


def _verbose(library: Any) -> contextlib.AbstractContextManager[object]:
    """`torch.backends.mkldnn` or `torch.backends.mkl` told to print its calls, where torch was built with it."""
    if not _is_there(library):
        return contextlib.nullcontext()
    verbose: contextlib.AbstractContextManager[object] = library.verbose(library.VERBOSE_ON)
    return verbose


def _call(line: str) -> str | None:
    """What a line says was called; None for one that says something else, such as the version."""
    if (routine := _MKL_CALL.match(line)) is not None:
        return f"mkl {routine[1].lower()}"
    fields = line.split(",")
    if "exec" not in fields:
        return None
    # ..., exec, engine, primitive, implementation, ...
    first = fields.index("exec") + 2
    return " ".join(fields[first : first + 2])
