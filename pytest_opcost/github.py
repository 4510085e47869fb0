"""In a step of a GitHub workflow: annotates the tests that drifted and appends to the step's summary, unasked."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_opcost import carried, paths
from pytest_opcost.report.github.annotations import Place, annotation, problem_annotation
from pytest_opcost.report.github.commands import command
from pytest_opcost.report.github.step_summary import append_summary, step_summary
from pytest_opcost.results import RunResults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_opcost.run import Run


class GitHub:
    """A plugin of its own beside the run's, only where the run reports and GitHub listens."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._workspace = os.environ.get("GITHUB_WORKSPACE")
        self._summary = os.environ.get("GITHUB_STEP_SUMMARY")
        self._lines: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # Of what workers send, only what fails is read back into records: of a thousand tests few do.
        data = getattr(report, "opcost", None)
        if data is not None and not any(map(_any_fails, data)):
            return
        if report.outcome not in ("passed", "failed", "skipped"):  # a test that is run again speaks then
            return
        for result in carried.results_in(report):
            line = annotation(result, self._place(report), failed=report.failed)
            self._lines += [] if line is None else [line]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        run = self._run
        if run.config.option.collectonly:
            return
        self._lines += [problem_annotation(problem) for problem in run.problems]
        if self._summary:
            found = RunResults(run.environments, run.found.results, run.trainings, "")
            try:
                append_summary(Path(self._summary), step_summary(found, run.problems))
            except OSError as error:
                told = f"The step's summary could not be written: {error}"
                self._lines.append(command("warning", told, title="opcost"))

    def pytest_unconfigure(self) -> None:
        """Print the annotations, each on a line of its own, below everything that pytest has to say."""
        for line in self._lines:
            encoding = sys.stdout.encoding or "utf-8"
            print(line.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()

    def _place(self, report: pytest.TestReport) -> Place | None:
        file, line, _ = report.location
        path = (self._run.config.rootpath / file).resolve()
        root = Path(self._workspace or self._run.config.rootpath).resolve()
        return Place(paths.told(path, root).as_posix(), None if line is None else line + 1)


def _any_fails(data: Mapping[str, list[dict[str, object]]]) -> bool:
    return any(finding["fails"] for finding in data["findings"])
