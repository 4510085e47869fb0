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


class HostLock:
    """The lock that a file stands for. Not to be taken twice: the process holds it, not what took it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def take(self) -> bool:
        """Whether it is held now: False where another process holds it. Raises OSError where there can be no file."""
        while True:
            if self._handle is None:
                self._handle = _opened(self._path)
            if not _locked(self._handle):
                return False
            # Whoever held it last may have removed the file since it was opened: then others find another one.
            if _is_still(self._path, self._handle):
                os.lseek(self._handle, 0, os.SEEK_SET)
                os.write(self._handle, f"{os.getpid():20}".encode("ascii"))
                return True
            self._close()

    def give_back(self) -> None:
        """Let others have it; the file stays open for the next time."""
        assert self._handle is not None
        _unlocked(self._handle)

    def remove(self) -> None:
        """Take the file away, unless another process holds the lock."""
        try:
            if self._handle is not None and self.take():
                self._path.unlink()
        except OSError:  # Windows keeps a file that is open, and so does a folder that shelters it from others
            pass
        self._close()

    @property
    def holder(self) -> int | None:
        """The process that holds it, or held it last, as far as the file tells."""
        try:
            return int(self._path.read_bytes()[:20])
        except (OSError, ValueError):
            return None

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


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

    def _unlocked(handle: int) -> None:
        os.lseek(handle, 1 << 20, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
else:

    def _locked(handle: int) -> bool:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlocked(handle: int) -> None:
        fcntl.lockf(handle, fcntl.LOCK_UN)
