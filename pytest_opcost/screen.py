"""The terminal that pytest writes to, for what is only of interest while it lasts; none where nobody is watching."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from pytest_opcost.values import switched_on
from pytest_opcost.workers import is_worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import pytest


class Screen:
    """A terminal as a file: pytest captures what tests print, and steps aside for each thing that is written here.

    `shared` tells whether tests may write there too while they run.
    """

    def __init__(
        self, reporter: Any, uncaptured: Callable[[], AbstractContextManager[None]], *, shared: bool = False
    ) -> None:
        self._reporter, self._uncaptured, self.shared = reporter, uncaptured, shared
        self._writer = reporter._tw  # pytest has no public name for it
        self.encoding = self._writer._file.encoding  # tqdm draws with what it can show

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return int(self._writer.fullwidth)

    @property
    def room(self) -> int:
        """Columns that are left on the line that pytest is writing."""
        return self.width - int(self._writer.width_of_current_line)

    def new_line(self) -> None:
        """End the line that pytest is writing, if it is."""
        with self._uncaptured():
            self._reporter.ensure_newline()

    def write(self, text: str) -> None:
        """Write at once, so that `flush` has nothing to do."""
        out: TextIO = self._writer._file
        with self._uncaptured():
            out.write(text)
            out.flush()

    def flush(self) -> None:
        """Every write is at once."""


def screen_of(config: pytest.Config) -> Screen | None:
    """The terminal of this run, once its configuration is complete. None with -q, in CI, where the output is a file or
    a pipe, and in a worker of pytest-xdist, whose terminal, if any, is another one.
    """
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.isatty or config.get_verbosity() < 0 or switched_on(os.environ.get("CI", "")):
        return None
    if is_worker(config) or os.environ.get("TERM") == "dumb":
        return None
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    option = config.option
    live_log = config.getini("log_cli") or getattr(option, "log_cli_level", None)
    return Screen(
        reporter,
        nullcontext if capture is None else capture.global_and_fixture_disabled,
        shared=capture is None or option.capture == "no" or bool(live_log),
    )
