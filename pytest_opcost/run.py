"""One pytest run with opcost switched on: hands out checks, gathers results, writes baselines, reports."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_opcost import carried, seams, storage, turns, workers
from pytest_opcost.api import Opcost
from pytest_opcost.check_options import marker_options, mistaken_marker
from pytest_opcost.collected import Collected
from pytest_opcost.controller import Controller
from pytest_opcost.ending import Ending
from pytest_opcost.errors import OpcostError
from pytest_opcost.found import Found
from pytest_opcost.fresh import Fresh
from pytest_opcost.items import device_of, marked_in_vain, subject_of, takes, test_id
from pytest_opcost.judge.words import nothing_judged_text
from pytest_opcost.leftover import Leftover, leftover
from pytest_opcost.measuring import Measuring
from pytest_opcost.mnist_of_run import MnistOfRun
from pytest_opcost.options import Update
from pytest_opcost.report import reports
from pytest_opcost.report.junit import properties
from pytest_opcost.report.places import refuse_unwritable
from pytest_opcost.report.terminal import Summary, header_lines, summary_lines
from pytest_opcost.report.wrapping import wrapped
from pytest_opcost.results import CheckResult, RunResults
from pytest_opcost.screen import screen_of
from pytest_opcost.session import Check
from pytest_opcost.unittests import refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pytest_opcost.costs import Environment
    from pytest_opcost.options import Options
    from pytest_opcost.training import Training

_OPCOST = pytest.StashKey[Opcost]()
_DRIFTED = pytest.StashKey["dict[str | None, CheckResult]"]()
_MEMORY = pytest.StashKey[object]()
_RESULTS = pytest.StashKey[list[CheckResult]]()


class Run:
    """The state of one run; registered as a plugin of its own, only where opcost is switched on."""

    def __init__(self, config: pytest.Config, options: Options) -> None:
        self.config, self.options = config, options
        self.found = Found(self._write)
        self.trainings: list[Training] = []
        self._untold: list[Training] = []
        self._started = datetime.now().astimezone().isoformat(timespec="seconds")
        self.problems: list[str] = []
        self.reports: list[str] = []
        self.environments: list[Environment] = []
        self._leftover = Leftover()
        self._unchecked: dict[str, None] = {}
        self._workers = Controller()
        config.pluginmanager.register(self._workers, "opcost-controller")
        self.mnist = MnistOfRun(options, self._workers)
        self._passed: set[str] = set()
        self._collected = Collected()
        config.pluginmanager.register(self._collected, "opcost-collected")
        self._ending = Ending()
        config.pluginmanager.register(self._ending, "opcost-ending")
        self._unable: OpcostError | None = None
        self._refused = False
        self._tests: list[str] = []
        self.measuring = Measuring(options)
        config.add_cleanup(self.measuring.end)
        self._fresh = Fresh(config, self.mnist.options_of_rounds, self._tests_here, self.measuring)
        # A worker of pytest-xdist measures, and so does a round; only their controller writes, counts and reports.
        self.is_worker = workers.is_worker(config) or options.only_measure

    # What tests and fixtures ask for

    def opcost_for(self, item: pytest.Item) -> Opcost:
        """The `opcost` object of one test, which fails in a worker whose machine lacks a device."""
        if self._unable is not None:
            pytest.fail(str(self._unable), pytrace=False)
        results = item.stash.setdefault(_RESULTS, [])
        check = Check(
            subject=subject_of(item, self.options),
            options=self.options,
            settings=marker_options(item, self.options.check),
            fresh=self._fresh,
            turn=self.measuring.step,
            tests=max(len(self._tests), 1),
            data=self._data_of(item),
        )
        drifted = item.stash.setdefault(_DRIFTED, {})
        item.stash[_OPCOST] = opcost = Opcost(check, results.append, drifted)
        return opcost

    def keep_training(self, training: Training) -> None:
        """Have the reports tell of a training of the test that runs now, even if the run is stopped in its midst."""
        self._untold.append(training)

    def _tests_here(self) -> list[str]:
        """Those that this process runs, as far as it knows: a worker of pytest-xdist has to be told one by one."""
        return [] if workers.is_worker(self.config) else list(dict.fromkeys(self._tests))

    def _data_of(self, item: pytest.Item) -> str | None:
        return self.mnist.source().describe() if takes(item, "mnist") else None

    # Before the tests

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        if not self.options.enabled or self.config.option.collectonly:
            return
        specs = workers.worker_specs(self.config)
        try:
            if not self.is_worker:
                refuse_unwritable(self.options, self.config.invocation_params.dir)
                storage.refuse_no_folder(self.options.baselines)
            self._open_base()
            if workers.all_here(specs):
                self.environments = seams.find_environments(self.options)
                if not self.is_worker and self.options.update in (Update.ALL, Update.ROUNDS):
                    self._refuse_unwritable_baselines()
                if not self.options.turns_wait:
                    workers.refuse_to_share(specs, self.options.devices, self.environments)
        except OpcostError as error:
            if not workers.is_worker(self.config):
                raise pytest.UsageError(str(error)) from None
            self._unable = error  # pytest-xdist takes a worker that cannot begin for a crash, and begins another one
        self.measuring.begin(self.environments, None if self.is_worker else screen_of(self.config))

    def _refuse_unwritable_baselines(self) -> None:
        """Look, before anything is measured, whether what is to be recorded can be written."""
        for environment in self.environments:
            storage.refuse_unwritable_folder(self.options.baselines / environment.machine_key)

    def _open_base(self) -> None:
        """Bring forth what this run is judged against, until pytest's end."""
        options = self.options
        if not options.has_base:
            return
        from pytest_opcost.base import opened

        ending = ExitStack()
        self.config.add_cleanup(ending.close)
        self._fresh.base = ending.enter_context(opened(self.config.rootpath, options.base, options.base_python))

    def pytest_report_header(self) -> list[str]:
        return header_lines(self.options, self.environments, self.config.rootpath)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        devices = {test_id(item): device_of(item, self.options) for item in session.items if takes(item, "opcost")}
        self._tests = list(devices)
        self.measuring.expect(devices)

    def pytest_report_collectionfinish(self, items: list[pytest.Item]) -> list[str]:
        if self.config.option.collectonly or not any(takes(item, "mnist") for item in items):
            return []
        try:
            told = wrapped(f"opcost: {self.mnist.source().describe()}", "        ")
        except OpcostError as error:
            self._refused = True
            raise pytest.UsageError(str(error)) from None
        return told if self.config.get_verbosity() >= 0 else []

    # As tests run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if self.options.enabled and (why := refusal(item) or mistaken_marker(item, self.options.check)):
            pytest.fail(why, pytrace=False)
        device, repetition = device_of(item, self.options), self.options.repetition
        # A test that is measured once finds the host's heap as it would be without us.
        if (device != "cpu" or repetition is not None) and takes(item, "opcost") and self._unable is None:
            turn = self.options.turn
            place = None if turn is None else f"{turn} {repetition or 0} {test_id(item)}"
            item.stash[_MEMORY] = seams.begin_memory(device, place)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        item.stash[_MEMORY] = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        # A fixture may check too, before the test or after it: each phase sends what it found, once.
        results = item.stash.get(_RESULTS, [])
        given = {name: value for result in results for name, value in properties(result)}
        # A test that is run again has new ones.
        item.user_properties[:] = [*(one for one in item.user_properties if one[0] not in given), *given.items()]
        report = yield
        if call.excinfo is not None and isinstance(call.excinfo.value, OpcostError):
            _begin_with_the_message(report, call.excinfo.value)
        carried.send(report, results, self._untold, away=self.is_worker)
        results.clear()
        self._untold.clear()
        if call.when == "setup" and takes(item, "opcost"):
            report.opcost_asked = test_id(item)  # type: ignore[attr-defined]
        if call.when == "setup" and takes(item, "lenet_training"):
            report.opcost_trains = True  # type: ignore[attr-defined]
        opcost = item.stash.get(_OPCOST, None)
        if call.when == "teardown" and (marked_in_vain(item) if opcost is None else not opcost.called):
            report.opcost_unchecked = subject_of(item, self.options).test  # type: ignore[attr-defined]
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.is_worker:
            return
        if report.when == "call" and report.passed:
            self._passed.add(report.nodeid)
        if hasattr(report, "opcost_unchecked") and report.nodeid in self._passed:
            self._unchecked[report.opcost_unchecked] = None
        self.trainings += carried.trainings_in(report)
        self.found.take(report)
        carried.forget(report)

    # After the tests

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if workers.is_worker(self.config):
            news = workers.WorkerNews(tuple(self.environments), self.mnist.given, self.measuring.waited)
            workers.send(self.config, news)
        if self.is_worker or self.config.option.collectonly:
            return
        self.environments = [*self._workers.environments] or self.environments
        self.problems += self._workers.problems()
        if self._workers.crashed:
            turns.sweep()
        self.found.end()
        self._leftover = leftover(session, self.options, self._collected, broken=self._ending.broken)
        for path in self._leftover.stale if self.options.prune else ():
            self._try(path.unlink)
        self.trainings += self._untold  # of a test that Ctrl-C left without a report
        found = RunResults(self.environments, self.found.results, self.trainings, self._started, self._images())
        for report in reports(self.options):
            if self._try(partial(report.write, self.config.invocation_params.dir / report.path, found)):
                self.reports.append(report.told)
        only_trained = (self.trainings or self._ending.trains) and not self._workers.any_asked
        misused = session.exitstatus == pytest.ExitCode.USAGE_ERROR  # as by an id that there is not, which pytest tells
        may_judge = self.options.enabled and not only_trained and not self._refused and not misused
        if may_judge and not any(_counts(result) for result in self.found.results):
            self.problems.append(nothing_judged_text(self._ending.why, with_base=self._fresh.base is not None))
        if self.problems and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.is_worker or self.config.option.collectonly:
            return
        summary = Summary(
            self.found.results, self._leftover.stale, self.options.prune, self.problems, self.reports,
            verbosity=self.config.get_verbosity(), root=self.config.rootpath, left_alone=self._leftover.left_alone,
            unchecked=list(self._unchecked), trainings=self.trainings,
            base="" if self._fresh.base is None else self._fresh.base.name,
        )  # fmt: skip
        recorded = any(result.text is not None for result in self.found.results)
        lines = [*summary_lines(summary), *self._workers.remarks(self.measuring.waited, recorded=recorded)]
        if lines:
            terminalreporter.write_sep("=", "opcost: operator costs")
            for line in lines:
                terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        # Pytest collects garbage as it ends, and would look through thousands of results for it.
        self.found = Found(self._write)

    def _images(self) -> bytes:
        """The first training images, for TensorBoard; none where no test used them, or none can be read."""
        if self.options.tensorboard is None:
            return b""
        # A controller of pytest-xdist has not looked for them: only what is known by now is found without the network.
        used = bool(self.trainings) or any(result.data for result in self.found.results)
        if self.mnist.given is None and not (self.mnist.known and used):
            return b""
        images: list[bytes] = []
        self._try(lambda: images.append(self.mnist.source().first_images()))
        return b"".join(images)

    def _write(self, result: CheckResult) -> bool:
        return self._try(lambda: storage.write(self.options.root / result.baseline, result.text or ""))

    def _try(self, action: Callable[[], object]) -> bool:
        """Whether the action went well; what went wrong becomes a problem of the run."""
        try:
            action()
        except (OpcostError, OSError, ValueError) as error:  # ValueError: a figure that JSON cannot hold
            self.problems.append(str(error))
            return False
        return True


def _counts(result: CheckResult) -> bool:
    return result.compared or bool(result.changes)


def _begin_with_the_message(report: pytest.TestReport, error: OpcostError) -> None:
    """Let lines that tell a failure in short, such as those of pytest's summary, leave out the error's long name."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        crash.message = str(error)
