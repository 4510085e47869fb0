"""Being told to stop by a signal ends like Ctrl-C: everything that was opened is closed on the way out."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_NAMES = ("SIGTERM", "SIGHUP")  # a job that is cancelled or out of time; a terminal that is closed


@contextlib.contextmanager
def stopping_like_ctrl_c() -> Iterator[None]:
    """Meanwhile SIGTERM and SIGHUP raise KeyboardInterrupt, at which pytest ends in order and context managers exit.

    By default they end the process at once. Whoever handles or ignores one of them already (nohup) goes on doing so.
    Does nothing outside of the main thread, where Python allows no handlers.
    """
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        ours = []
    owner = os.getpid()

    def stop(number: int, frame: FrameType | None) -> None:
        if os.getpid() == owner:
            raise KeyboardInterrupt(f"stopped by {signal.Signals(number).name}")
        # A forked worker (a data loader's) has this handler too: there it ends as if it had none.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
