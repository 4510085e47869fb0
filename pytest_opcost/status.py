"""What a run is at, behind the line that pytest is writing: on a terminal alone, and gone before pytest goes on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_opcost.screen import Screen

#: Seconds between two drawings of what only counts on.
REDRAW_EVERY = 0.5
#: With fewer columns left than this, the text begins a line of its own.
LEAST_ROOM = 40


class StatusLine:
    """One line of text at a time. The cursor stays where pytest left it: whatever is written next takes its place."""

    def __init__(self, screen: Screen | None) -> None:
        self._screen = screen
        self._shown, self._drawn_at = "", 0.0

    @property
    def visible(self) -> bool:
        """Whether anybody sees it."""
        return self._screen is not None

    def tell(self, text: str) -> None:
        """Show this instead of what is shown; an ASCII text, which is cut where the line ends."""
        now = time.monotonic()
        if self._screen is None or text == self._shown or (self._shown and now - self._drawn_at < REDRAW_EVERY):
            return
        if self._screen.room < LEAST_ROOM:
            self._screen.new_line()
        told = f" {text}"[: self._screen.room - 1]
        self._screen.write(f"\x1b[K{told}\x1b[{len(told)}D")
        self._shown, self._drawn_at = text, now

    def clear(self) -> None:
        """Show nothing."""
        if self._screen is not None and self._shown:
            self._screen.write("\x1b[K")
        self._shown = ""


def duration(seconds: float) -> str:
    """A time to wait for, as it is told: `8 s`, `3 min`, `2.5 h`."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 99.5 * 60 else f"{seconds / 3600:.1f} h"
