"""A lock between the processes of one host: a file that the kernel locks, and that is gone once nobody wants it.

The kernel gives a lock back when the process that holds it ends, however it ends. A POSIX lock belongs to the process
alone: what a test forks does not go on holding it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)  # anybody may put a link into a folder of temporary files


def try_lock(path: Path) -> int | None:
    """Lock the file, made where it is missing: a handle for `unlock`, or None where another process holds it.

    Raises OSError where there can be no such file.
    """
    while True:
        handle = _opened(path)
        try:
            if not _locked(handle):
                os.close(handle)
                return None
            # Its last holder may have removed it since it was opened: then others find another one.
            if _is_still(path, handle):
                os.ftruncate(handle, 0)
                os.write(handle, str(os.getpid()).encode("ascii"))
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def unlock(path: Path, handle: int) -> None:
    """Give the lock back; the file goes first, so that whoever waits for it sees that it has to look again."""
    with suppress(OSError):  # Windows keeps a file that is open, and so does a folder that shelters it from others
        path.unlink()
    os.close(handle)


def holder(path: Path) -> int | None:
    """The process that holds the lock, as far as the file tells."""
    try:
        return int(path.read_bytes()[:20])
    except (OSError, ValueError):
        return None


def _opened(path: Path) -> int:
    """A handle of the file, which any user of the host may lock."""
    while True:
        with suppress(FileNotFoundError):
            return os.open(path, os.O_RDWR | _NO_LINKS)
        with suppress(FileExistsError):
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINKS)
            with suppress(OSError):
                os.chmod(path, 0o666)  # whatever the umask is
            return handle


def _is_still(path: Path, handle: int) -> bool:
    """Whether the file that was locked is the one that others find."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


try:
    import fcntl
except ImportError:  # Windows
    import msvcrt

    def _locked(handle: int) -> bool:
        # Far behind the end, since nobody else can read what is locked.
        os.lseek(handle, 1 << 20, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
        return True
else:

    def _locked(handle: int) -> bool:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True
