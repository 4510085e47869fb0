"""How far a training is, as a bar on the terminal, where there is one."""

from __future__ import annotations

import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import pytest


@contextmanager
def training_bar(config: pytest.Config, title: str, steps: int) -> Iterator[Callable[[int, int, float, float], None]]:
    """A bar of `steps` training steps, on the terminal that pytest writes to; nothing anywhere if that is none.

    Yields what moves it: called with the steps done, the epoch, the loss and the accuracy. The bar is gone in the end.
    """
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    # A worker of pytest-xdist has no reporter; one that writes to a file or a pipe gets no bar either.
    if reporter is None or not reporter.isatty or config.get_verbosity() < 0:
        yield lambda step, epoch, loss, accuracy: None
        return
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    uncaptured = nullcontext if capture is None else capture.global_and_fixture_disabled
    with uncaptured():
        reporter.ensure_newline()
        out, width = reporter._tw._file, reporter._tw.fullwidth  # pytest has no public name for either
    bar = _bar(_Uncaptured(out, uncaptured), title, steps, width)
    try:

        def move(step: int, epoch: int, loss: float, accuracy: float) -> None:
            bar.set_postfix_str(f"epoch {epoch}, loss {loss:.3f}, accuracy {100 * accuracy:.1f} %", refresh=False)
            bar.update(step - bar.n)

        yield move
    finally:
        bar.close()


class _Uncaptured:
    """The terminal as a file for tqdm; pytest captures what tests print, and so steps aside for each line."""

    def __init__(self, out: TextIO, uncaptured: Callable[[], AbstractContextManager[None]]) -> None:
        self._out, self._uncaptured = out, uncaptured
        self.encoding = out.encoding  # tqdm draws with what it can show

    def write(self, text: str) -> None:
        with self._uncaptured():
            self._out.write(text)
            self._out.flush()

    def flush(self) -> None:
        """Every write is at once."""


#: Short enough to leave room for the bar itself in 80 columns.
_FORMAT = "{desc} {percentage:3.0f}% |{bar}| {remaining} left{postfix}"


def _bar(file: _Uncaptured, title: str, steps: int, width: int) -> Any:
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[misc]  # it has no types
        # A thread of its own would write while a test prints, and a lock between processes starts one.
        monitor_interval = 0
        _lock = threading.RLock()

    return Bar(total=steps, desc=title, bar_format=_FORMAT, file=file, leave=False, ncols=width)
