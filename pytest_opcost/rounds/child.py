"""Inside the process of a round: pytest as the user calls it, but for the given tests; sends home what they find."""

from __future__ import annotations

import gc
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol

from pytest_opcost import declared, plugin
from pytest_opcost.base.foreign import foreign_modules, installed_copies
from pytest_opcost.items import device_of
from pytest_opcost.merging import REPETITIONS
from pytest_opcost.partner import Partner
from pytest_opcost.rounds.collected import in_order, not_collected, paths_of
from pytest_opcost.rounds.gate import gate_of, wait_at
from pytest_opcost.rounds.quiet import leave_cache_alone, quieten, quieten_early
from pytest_opcost.rounds.settings import Settings
from pytest_opcost.rounds.wording import failure_of

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from pytest_opcost.options import Options

#: How many times one of a pair runs a test on a device at most, where the two sides do so one after the other: each
#: time takes 0.2 to 0.3 s (measured, H200), and a suspicion is to be settled within half a minute.
MOST_ON_DEVICE = 2 * REPETITIONS
#: Seconds after which a test is not run again: one of such long steps is steady enough, and a round's time has an end.
LONGEST_SECONDS = 30.0
#: The plugin's own code is the same on all sides: one instrument measures them.
_OWN_FOLDER = Path(__file__).resolve().parents[1]


def run(request: Mapping[str, Any]) -> int:
    """Run the tests of a request; pytest's exit status."""
    sys.argv[:] = ["pytest", *request["args"]]
    child = Child(request)
    status = pytest.main(list(request["args"]), plugins=[child])
    if request["moved"] is not None:
        old, new = map(Path, request["moved"])
        child.send(
            kind="code", foreign=foreign_modules(old, [_OWN_FOLDER]), copies=installed_copies(new, [_OWN_FOLDER])
        )
    child.send(kind="end", status=int(status))
    if request["gate"] is not None:
        gate_of(Path(request["folder"])).over.touch()
    return int(status)


class Child:
    """A plugin that makes a pytest process a round; sends lines of JSON home as things happen."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._request = request
        self._tests: list[str] = request["tests"]
        self._problems: dict[str, str] = {}
        self._repetition = 0
        self._home = Path(request["folder"], "found.jsonl")
        self._settings = Settings.from_data(request["settings"])
        self._partner = None if request["partner"] is None else Partner.of_data(request["partner"])

    def send(self, **line: object) -> None:
        """Send one line home, at once: the process may not live long."""
        with self._home.open("a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")

    # The configuration

    # Last of the wrappers, and so the first to see the result: `--debug` opens its file right after.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_cmdline_parse(
        self, pluginmanager: pytest.PytestPluginManager
    ) -> Generator[None, pytest.Config, pytest.Config]:
        # Under the name that it has in the run that asks: an entry point or a `-p` of that name then finds it there.
        pluginmanager.register(plugin, self._request["plugin"])
        config = yield
        quieten(config, self._request["folder"])
        if self._request["seed"] is not None and hasattr(config.option, "randomly_seed"):
            config.option.randomly_seed = self._request["seed"]
        config.stash[declared.AS_ASKED] = lambda found: replace(self._settings.applied_to(found), partner=self._partner)
        return config

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> Generator[None, Any, Any]:
        quieten_early(early_config)
        return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        leave_cache_alone(config)

    # Which tests run

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> Generator[None, object, object]:
        config = session.config
        config.args = paths_of(self._tests, config.rootpath, config.invocation_params.dir)
        return (yield)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._problems[report.nodeid] = failure_of(report)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, None, None]:
        before = list(items)
        yield
        # Whatever other plugins and conftests deselected or shuffled in between.
        items[:] = in_order(self._tests, [*before, *items])
        for test, why in not_collected(self._tests, items, self._problems).items():
            self.send(kind="failed", test=test, text=why)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        if self._request["gate"] is not None:
            wait_at(gate_of(self._home.parent), self._request["gate"])
        gc.freeze()  # between two tests garbage is collected, for which half a million objects need not be looked at
        try:
            return (yield)
        finally:
            if self._partner is not None:
                self._partner.end()

    # What they find

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """One side of a pair runs it several times, everything set up anew but for what is the whole session's; on a
        CPU only in turns with the other one. A failure ends it, and is one if it is the first time's: tests need not
        bear to be run again.
        """
        run = item.config.pluginmanager.get_plugin("opcost-run")
        if run is None or not (count := self._repetitions(item, run.options)):
            return None
        options, begun = run.options, time.monotonic()
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for repetition in range(count):
            self._repetition = repetition
            if self._partner is not None:
                self._partner.at(item.nodeid, repetition)
            run.options = replace(options, repetition=repetition, exact=options.exact and repetition == 0)
            last = repetition == count - 1
            reports = runtestprotocol(item, nextitem=nextitem if last else item.session)  # type: ignore[arg-type]
            lost = self._partner is not None and self._partner.lost
            if lost or not all(report.passed for report in reports) or time.monotonic() - begun > LONGEST_SECONDS:
                break
        run.options = options
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _repetitions(self, item: pytest.Item, options: Options) -> int:
        """How many times one of a pair runs this test; 0 where it is run as ever."""
        if self._partner is not None:
            return self._settings.repetitions
        on_device = self._settings.repetitions > 1 and device_of(item, options) != "cpu"
        return min(self._settings.repetitions, MOST_ON_DEVICE) if on_device else 0

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.send(kind="started", test=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if results := getattr(report, "opcost", ()):
            self.send(kind="measured", test=report.nodeid, results=results)
        if (text := failure_of(report)) and not self._repetition:
            self.send(kind="failed", test=report.nodeid, text=text)
        if report.when == "call" and self._partner is not None and self._partner.lost:
            self.send(kind="failed", test=report.nodeid, text="the other side was not there to measure in turns with")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.send(kind="finished", test=nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        yield
        # pytest collects garbage five times before it returns: a second, with torch imported, and nothing to gain.
        gc.freeze()
