"""Running rounds of a user's project: in the middle of a pytest session there, as the plugin does."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_opcost import plugin, rounds

if TYPE_CHECKING:
    from pytest_opcost.rounds import Round, Side

    from .project import Project

#: The same for a run in a process of its own: a plugin that is a file.
DRIVER = """
import json

import pytest


def pytest_runtestloop(session):
    from pytest_opcost import plugin, rounds

    options = session.config.stash[plugin.OPTIONS]
    if options.only_measure:
        return None
    tests = [item.nodeid for item in session.items]
    start = rounds.Start(rounds.head_side(session.config), tests, exact=True)
    (found,) = rounds.run_together([start], options, timeout=60)
    with open("found.json", "w") as file:
        json.dump([list(found.profiles), found.failures, hasattr(session.config, "workerinput")], file)
    return True
"""


@dataclass(eq=False)  # pytest needs its hash
class AsksForARound:
    """A plugin that runs one round instead of the session's tests, of the given ones or those that it collects."""

    tests: Sequence[str] | None
    exact: bool
    timeout: float
    side: Callable[[Side], Side]
    seen: list[str] = field(default_factory=list)
    found: list[Round] = field(default_factory=list)
    error: BaseException | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool | None:
        return None if self.tests is None else self._run(session.config, self.tests)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.seen += [item.nodeid for item in session.items]
        return self.tests is not None or self._run(session.config, self.seen)

    def _run(self, config: pytest.Config, tests: Sequence[str]) -> bool:
        side = self.side(rounds.head_side(config))
        try:
            start = rounds.Start(side, tests, exact=self.exact)
            self.found += rounds.run_together([start], config.stash[plugin.OPTIONS], timeout=self.timeout)
        except BaseException as error:
            self.error = error
        return True


def run_round(
    project: Project,
    *args: str,
    tests: Sequence[str] | None = None,
    side: Callable[[Side], Side] = lambda head: head,
    seen: list[str] | None = None,
    exact: bool = True,
    timeout: float = 60,
) -> Round:
    """What a round finds when pytest is called in the project with these arguments; raises what the round raises.

    `seen` gets the tests that were collected.
    """
    asks = AsksForARound(tests, exact, timeout, side, seen=[] if seen is None else seen)
    project.pytester.inline_run("--opcost", *args, plugins=[asks])
    if asks.error is not None:
        raise asks.error
    (found,) = asks.found
    return found


def alive(pid: int) -> bool:
    """Whether a process is there; a zombie whose parent has not looked yet is not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return Path("/proc").exists() is False
