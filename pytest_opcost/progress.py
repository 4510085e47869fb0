"""How far a training is, as a bar on the terminal, where there is one."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_opcost.screen import screen_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

    from pytest_opcost.screen import Screen


@contextmanager
def training_bar(config: pytest.Config, title: str, steps: int) -> Iterator[Callable[[int, int, float, float], None]]:
    """A bar of `steps` training steps, on the terminal that pytest writes to; nothing anywhere if that is none.

    Yields what moves it: called with the steps done, the epoch, the loss and the accuracy. The bar is gone in the end.
    """
    screen = screen_of(config)
    if screen is None:
        yield lambda step, epoch, loss, accuracy: None
        return
    screen.new_line()
    bar = _bar(screen, title, steps)
    bar.set_postfix_str("first steps")  # on a CPU, seconds until the first reading
    try:

        def move(step: int, epoch: int, loss: float, accuracy: float) -> None:
            bar.set_postfix_str(f"epoch {epoch}, loss {loss:.3f}, accuracy {100 * accuracy:.1f} %", refresh=False)
            bar.update(step - bar.n)

        yield move
    finally:
        bar.close()


#: Short enough to leave room for the bar itself in 80 columns.
_FORMAT = "{desc} {percentage:3.0f}% |{bar}| {remaining} left{postfix}"


def _bar(screen: Screen, title: str, steps: int) -> Any:
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[misc]  # it has no types
        # A thread of its own would write while a test prints, and a lock between processes starts one.
        monitor_interval = 0
        _lock = threading.RLock()

    return Bar(total=steps, desc=title, bar_format=_FORMAT, file=screen, leave=False, ncols=screen.width)
