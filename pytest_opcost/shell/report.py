"""`opcost report RESULTS`: the reports that pytest writes, from results that were saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost import saved
from pytest_opcost.results import RunResults
from pytest_opcost.shell.command import Command
from pytest_opcost.shell.known import FileError
from pytest_opcost.shell.printing import show_json, show_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_opcost.options import Options


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results", metavar="RESULTS", nargs="+", type=Path,
        help="what --opcost-json wrote; several files become one report, as of the first one's run",
    )  # fmt: skip
    parser.add_argument("--html", metavar="DIR", type=Path, help="a page with everything, for people")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="the Lab's report, its pictures beside it")
    parser.add_argument("--tensorboard", metavar="DIR", type=Path, help="curves, graphs and costs for TensorBoard")


def _run(given: argparse.Namespace) -> int:
    if given.html is None and given.markdown is None and given.tensorboard is None:
        raise FileError(
            "no report was asked for.\nExpected: --html DIR, --markdown FILE or --tensorboard DIR, one or more.\n"
            f"To look at the results here: opcost show {given.results[0]}"
        )
    run = together([saved.load(path) for path in given.results])
    try:
        told = _write(_options(given), run)
    except ImportError as error:
        raise FileError(f"this report needs {error.name}, which is not installed.\nInstall it with pip.") from None
    if given.json:
        show_json({"tests": len(run.checks), "trainings": len(run.trainings), "reports": told})
    else:
        show_lines(told)
    return 0


def together(runs: Sequence[RunResults]) -> RunResults:
    """The results of several runs as those of one, which started when the first of them did."""
    return RunResults(
        environments=list(dict.fromkeys(one for run in runs for one in run.environments)),
        checks=[check for run in runs for check in run.checks],
        trainings=[training for run in runs for training in run.trainings],
        started=runs[0].started,
    )


def _options(given: argparse.Namespace) -> Options:
    """The options of a run that measures nothing and writes these reports."""
    from pytest_opcost.options import Missing, Options, Update

    return Options(
        enabled=False, root=Path(), devices=(), batch_sizes=(), baselines=Path("baselines"), mnist=None, cache=Path(),
        missing=Missing.REPORT, update=Update.NONE, prune=False, threads=1, quiet=False, rounds=0, confirm=0, json=None,
        html=given.html, markdown=given.markdown, tensorboard=given.tensorboard,
    )  # fmt: skip


def _write(options: Options, run: RunResults) -> list[str]:
    """Write the reports; the lines that say where each is."""
    from pytest_opcost.report import reports

    told = []
    for report in reports(options, prefix="--"):
        report.write(report.path, run)
        told.append(report.told)
    return told


COMMAND = Command(
    name="report",
    summary="the page, the Markdown report or TensorBoard's files, from saved results",
    description="""\
Write the reports that `pytest --opcost` writes, later or elsewhere, from what
--opcost-json saved. A page has no traces to download then, and TensorBoard no
images: the file of results leaves both out.""",
    examples="""\
  pytest --opcost --opcost-json=results.json
  opcost report results.json --html page
  opcost report cpu.json gpu.json --markdown report.md --tensorboard tb""",
    declare=_declare,
    run=_run,
)
