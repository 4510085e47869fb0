"""The plugin's section at the end of a run: its checks, configurations side by side, trainings, counts, reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost import paths
from pytest_opcost.report.against import against_text
from pytest_opcost.report.outcomes import outcomes_text
from pytest_opcost.report.terminal.baselines import baseline_lines
from pytest_opcost.report.terminal.check import brief_lines, is_remarkable, table_lines
from pytest_opcost.report.terminal.comparison import comparison_lines
from pytest_opcost.report.terminal.training import training_lines
from pytest_opcost.report.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_opcost.results import CheckResult
    from pytest_opcost.training import Training


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run has to tell at its end.

    `verbosity` is pytest's, `reports` are the lines that say where each written report is, `left_alone` says why
    baselines were neither listed nor pruned, `unchecked` are the opcost tests that passed without measuring anything,
    `base` is what was measured beside them.
    """

    results: Sequence[CheckResult]
    stale: Sequence[Path]
    pruned: bool
    problems: Sequence[str]
    reports: Sequence[str]
    verbosity: int
    root: Path
    left_alone: str = ""
    unchecked: Sequence[str] = ()
    trainings: Sequence[Training] = ()
    base: str = ""


def summary_lines(summary: Summary) -> list[str]:
    """The plugin's section of the terminal summary, at most 80 columns wide.

    With -v each check is a table; with -q only those are told that drifted or leave something to say, and none side by
    side.
    """
    lines = [line for result in summary.results for line in _check_lines(result, summary.verbosity)]
    if summary.verbosity >= 0 and (tables := comparison_lines(summary.results)):
        lines += tables if lines[-1] == "" else ["", *tables]
    lines += [line for training in summary.trainings for line in training_lines(training)]
    lines += _ending_lines(summary)
    return lines


def _check_lines(result: CheckResult, verbosity: int) -> Iterable[str]:
    if verbosity > 0:
        return table_lines(result)
    return brief_lines(result) if verbosity == 0 or is_remarkable(result) else ()


def _ending_lines(summary: Summary) -> list[str]:
    """Baselines, counts and reports of the whole run, and what went wrong."""
    lines: list[str] = []
    if summary.stale:
        done = "removed" if summary.pruned else "remove them with --opcost-prune-baselines"
        lines += wrapped(f"stale baselines, whose test no longer exists ({done}):", "  ")
        lines += [f"  {paths.told(path, summary.root)}" for path in summary.stale]
    if summary.left_alone:
        lines += wrapped(summary.left_alone, "  ")
    if summary.unchecked:
        names = ", ".join(summary.unchecked)
        lines += wrapped(f"passed without a call of opcost.check or opcost.profile: {names}", "  ")
    if summary.results:
        lines += [f"opcost: {outcomes_text(summary.results)}"]
    if summary.base and (against := against_text(summary.base, summary.results)):
        lines += wrapped(f"opcost: {against}", "        ")
    for line in baseline_lines(summary.results):
        lines += wrapped(line, "  ")
    lines += summary.reports
    for problem in summary.problems:
        first, *rest = problem.splitlines()
        lines += [*wrapped(f"ERROR: {first}", "  "), *(part for line in rest for part in wrapped(f"  {line}", "  "))]
    return lines
