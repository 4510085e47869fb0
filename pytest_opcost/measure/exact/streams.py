"""What C libraries print to the process's stdout or stderr, caught on its way to the user."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from typing import BinaryIO

STDOUT, STDERR = 1, 2


@contextmanager
def caught(stream: int, kept_back: re.Pattern[bytes]) -> Iterator[BinaryIO | None]:
    """A file that gets what is printed to the stream meanwhile; at the end all is passed on but what is kept back.

    None where there is no such stream, or none that could be caught.
    """
    if not sys.platform.startswith("linux") or not _is_open(stream):
        yield None
        return
    with tempfile.TemporaryFile() as file:
        flush()
        user = os.dup(stream)
        try:
            os.dup2(file.fileno(), stream)
            yield file
        finally:
            flush()
            os.dup2(user, stream)
            file.seek(0)
            # A pipe may take less than all at once: a file object writes on.
            with os.fdopen(user, "wb") as out:
                out.write(kept_back.sub(b"", file.read()))


def flush() -> None:
    """Have Python and the C library write what they hold back."""
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)


def _is_open(stream: int) -> bool:
    try:
        os.fstat(stream)
    except OSError:
        return False
    return True
