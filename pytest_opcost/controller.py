"""What the controller of pytest-xdist learns of its workers beside the reports of their tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_opcost import workers
from pytest_opcost.status import duration
from pytest_opcost.workloads.source import SAMPLE_WORD

if TYPE_CHECKING:
    from pytest_opcost.costs import Environment

#: Seconds of waiting in all that are worth a line.
_TOLD_FROM = 1.0


class Controller:
    """A plugin of its own. Without pytest-xdist none of its hooks is ever called, and nothing is learned.

    `environments` are the workers' own, each once, `mnist` is where they found it, if that is on this host too.
    """

    def __init__(self) -> None:
        self.environments: dict[Environment, None] = {}
        self.mnist: str | None = None
        self._asked: dict[str, str] = {}
        self._crashed: dict[str, None] = {}  # pytest-xdist may run one again, in the next worker
        self._waited, self._workers = 0.0, 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if test := getattr(report, "opcost_asked", None):
            self._asked[report.nodeid] = test

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        news = workers.news_of(node)
        if news is None:
            return
        self.environments |= dict.fromkeys(news.environments)
        self._waited, self._workers = self._waited + news.waited, self._workers + 1
        if news.mnist is not None and (news.mnist == SAMPLE_WORD or Path(news.mnist).is_dir()):
            self.mnist = news.mnist

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any) -> None:
        self._crashed[crashitem] = None

    @property
    def any_asked(self) -> bool:
        """Whether any test wanted to be measured."""
        return bool(self._asked)

    @property
    def crashed(self) -> bool:
        """Whether a worker did, in a test."""
        return bool(self._crashed)

    def problems(self) -> list[str]:
        """What the run's end must tell, a line each."""
        return [
            f"{self._asked[nodeid]}: its worker crashed, so it was not judged, and nothing of it was written."
            for nodeid in self._crashed
            if nodeid in self._asked
        ]

    def remarks(self, waited: float, *, recorded: bool) -> list[str]:
        """What is good to know of how the run measured; `waited` are seconds that this very process waited, `recorded`
        tells whether any baseline was.
        """
        found, waited = [], waited + self._waited
        if waited >= _TOLD_FROM:
            found += [f"measurements took turns on their device, and waited {duration(waited)} in all for them"]
        if recorded and self._workers > 1:
            found += ["recorded by several workers, which share no fresh process: -n 0 is quicker, and calmer"]
        return found
