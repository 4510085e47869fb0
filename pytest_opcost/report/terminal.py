"""The terminal: header, one line or one table for each test, the comparison of configurations, and the counts."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from pytest_opcost.baselines import quoted
from pytest_opcost.judge import Kind, Outcome, percent
from pytest_opcost.options import Options, Update
from pytest_opcost.report.against import against_text
from pytest_opcost.report.comparison import comparison_lines
from pytest_opcost.report.outcomes import outcomes_text
from pytest_opcost.report.quantities import accuracy_text, share_text, short_time
from pytest_opcost.report.recorded import recorded_lines
from pytest_opcost.report.tables import WIDTH, narrow_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_opcost.costs import ColdStep, CostProfile, Environment, OpCost
    from pytest_opcost.results import CheckResult
    from pytest_opcost.training import Training

_MODES = {
    Update.NONE: "compare",
    Update.ROUNDS: "compare, and add rounds to what holds",
    Update.MISSING: "compare, and record what is missing",
    Update.ALL: "record every measured test anew",
}
_COMPARED = (Outcome.PASSED, Outcome.DRIFTED, Outcome.INCONCLUSIVE)
_FINDINGS_OF_A_FAILURE = 3
#: The spaces at which no line is to be broken, and what stands for them meanwhile, which no text has.
_WITHIN_A_FIGURE = re.compile(r"(?<=\d) (?=%|[nmu]?s\b|times\b)|(?<=\(was) |(?<=\(warm) ")
_GLUE = "\x1f"


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run has to tell at its end.

    `reports` are the lines that say where each written report is, `left_alone` says why baselines were neither
    listed nor pruned, `unchecked` are the opcost tests that passed without measuring anything, `base` is what was
    measured beside them.
    """

    results: Sequence[CheckResult]
    stale: Sequence[Path]
    pruned: bool
    problems: Sequence[str]
    reports: Sequence[str]
    verbose: bool
    root: Path
    left_alone: str = ""
    unchecked: Sequence[str] = ()
    trainings: Sequence[Training] = ()
    base: str = ""


def header_lines(options: Options, environments: Sequence[Environment], root: Path) -> list[str]:
    """The lines below pytest's own header: what is measured on, and what is compared with."""
    if not options.enabled:
        return []
    base = _base(options)
    lines = [base or f"opcost: {_MODES[options.update]}; without a baseline: {options.missing.value}"]
    for environment in environments:
        threads = f"{environment.threads} thread{'s' if environment.threads > 1 else ''}"
        lines.append(
            f"opcost: {environment.device}: {environment.device_name} ({environment.capability}), torch "
            f"{environment.torch}, {threads}, {environment.allocator} allocator"
        )
        lines.append(f"opcost: machine {environment.machine_key}")
    lines += [] if base else [f"opcost: baselines {_relative(options.baselines, root)}"]
    return [part for line in lines for part in wrapped(line, "        ")]


def _base(options: Options) -> str:
    """What is compared with instead of baselines; empty where nothing is."""
    names = [*([options.base] if options.base else []), *([str(options.base_python)] if options.base_python else [])]
    return f"opcost: compare with {', run by '.join(names)}, measured beside it" if names else ""


def summary_lines(summary: Summary) -> list[str]:
    """The plugin's section of the terminal summary, at most 80 columns wide."""
    lines: list[str] = []
    for result in summary.results:
        lines += _table_lines(result) if summary.verbose else _brief_lines(result)
    lines += comparison_lines(summary.results)
    for training in summary.trainings:
        lines += _training_lines(training)
    if summary.stale:
        done = "removed" if summary.pruned else "remove them with --opcost-prune-baselines"
        lines += wrapped(f"stale baselines, whose test no longer exists ({done}):", "  ")
        lines += [f"  {_relative(path, summary.root)}" for path in summary.stale]
    if summary.left_alone:
        lines += wrapped(summary.left_alone, "  ")
    if summary.unchecked:
        names = ", ".join(summary.unchecked)
        lines += wrapped(f"passed without a call of opcost.check or opcost.profile: {names}", "  ")
    if summary.results:
        lines += [f"opcost: {outcomes_text(summary.results)}"]
    if summary.base and (against := against_text(summary.base, summary.results)):
        lines += wrapped(f"opcost: {against}", "        ")
    for line in recorded_lines(summary.results):
        lines += wrapped(line, "  ")
    lines += summary.reports
    for problem in summary.problems:
        first, *rest = problem.splitlines()
        lines += [*wrapped(f"ERROR: {first}", "  "), *(part for line in rest for part in wrapped(f"  {line}", "  "))]
    return lines


def _brief_lines(result: CheckResult) -> Iterator[str]:
    yield from wrapped(f"{_word(result.verdict.outcome)}  {result.subject.title}", "    ")
    yield from wrapped(f"    {_figures(result)}", "    ")
    yield from _remarks(result)


def _word(outcome: Outcome) -> str:
    """The outcome in words; what failed is to be found at a glance."""
    return outcome.words.upper() if outcome is Outcome.DRIFTED else outcome.words


def _figures(result: CheckResult) -> str:
    parts = [f"step {short_time(result.profile.wall_us)}"]
    parts += [
        f"{name} {value:.3g}" + (f" (was {result.baseline_ratios[name]:.3g})" if name in result.baseline_ratios else "")
        for name, value in result.ratios.items()
    ]
    # Where no ratio says what was, the dearest operator that was judged does.
    single = [one for one in result.verdict.compared if one.op in result.profile.by_name()]
    if single and not result.baseline_ratios.keys() & result.ratios.keys():
        top = max(single, key=lambda one: one.now_us)
        parts += [f"{top.op} {short_time(top.now_us)} (was {short_time(top.before_us)})"]
    return ", ".join(parts)


def _remarks(result: CheckResult) -> Iterator[str]:
    """Remarks, findings, what a recording changed, and where the comparison came from, if that is worth a line."""
    for remark in result.profile.remarks:
        yield from wrapped(f"    - {remark}", "      ")
    # A failed test has told all of its findings already.
    failed = result.fails
    if result.verdict.failing and result.causes:
        others = len(result.causes) - 1
        untold = f", and {others} more cause{'s' if others > 1 else ''}" if others else ""
        yield from wrapped(f"    cause: {result.causes[0].message}{untold}", "      ")
    findings = result.verdict.told
    told = _FINDINGS_OF_A_FAILURE if failed else len(findings)
    for finding in findings[:told]:
        first, *rest = finding.message.splitlines() or [""]
        yield from wrapped(f"    - {first}", "      ")
        for line in filter(None, rest):
            yield from wrapped(f"      {line}", "        ")
        if finding.kind is Kind.CHEAPER and result.baseline:
            command = f"pytest {quoted(result.subject.test)} --opcost-update-baselines"
            yield from wrapped(f"      bank it: {command}", "        ")
    if more := len(findings[told:]):
        yield f"    - and {more} more, in the test's own message"
    if result.changes:
        yield from wrapped(f"    {result.baseline}: {'; '.join(result.changes)}", "      ")
    if result.verdict.outcome is Outcome.NOT_JUDGED and result.compared:
        yield from wrapped(
            f"    cost not judged: compared with a baseline {result.origin}. Record this machine's own with "
            "--opcost-update-missing",
            "      ",
        )


def _training_lines(training: Training) -> Iterator[str]:
    yield from wrapped(f"{'interrupted' if training.interrupted else 'trained'}  {training.test}", "    ")
    done = len(training.epoch_seconds)
    whole = "s" if training.epochs > 1 else ""
    epochs = f"{f'{done} of ' if training.interrupted else ''}{training.epochs} epoch{whole}"
    parts = [f"{training.model} on {training.device}, batch {training.batch_size}, {epochs}"]
    if done:
        parts += [
            f"test accuracy {accuracy_text(training.test_accuracies[-1])}",
            f"mean test loss {training.test_losses[-1]:.4f}",
            f"{short_time(1e6 * median(training.epoch_seconds))} an epoch",
        ]
    else:
        parts += [f"training loss {training.losses[-1]:.4f} after {training.steps[-1]:,} steps"]
    yield from wrapped(f"    {', '.join(parts)}, {training.loop}", "    ")


def _table_lines(result: CheckResult) -> Iterator[str]:
    profile = result.profile
    yield from wrapped(f"{result.subject.title}: {_outcome(result)}", "    ")
    top, other = profile.top(result.top)
    device = profile.clock == "device"
    headers = ["operator", "family", "calls", "host us", *(["device us"] if device else []), "share"]
    rows = [_row(op, device=device) for op in (*top, *([other] if other else []))]
    total = ["step total", "", "", f"{profile.total_host_us:,.1f}"]
    rows.append([*total, *([f"{profile.total_device_us:,.1f}"] if device else []), "100.0 %"])
    yield from narrow_table(rows, headers, left=2)
    yield from wrapped(f"    {_figures(result)}", "    ")
    if result.verdict.outcome in _COMPARED and result.compared:
        yield from wrapped(f"    compared with {'a baseline ' * bool(result.baseline)}{result.origin}", "      ")
        yield from wrapped(f"    {_seen(result)}", "      ")
    if profile.cold is not None:
        yield from wrapped(f"    {_cold(profile.cold, profile, device=device)}", "      ")
    if waits := [op for op in profile.ops if op.waits]:
        told = ", ".join(f"{op.name} {short_time(max(op.self_host_us, op.self_device_us))}" for op in waits)
        yield from wrapped(f"    waiting, in no share: {told}", "      ")
    yield from _remarks(result)
    yield ""


def _outcome(result: CheckResult) -> str:
    """The outcome, and that nothing moved where times were compared and nothing did."""
    verdict = result.verdict
    same = verdict.outcome is Outcome.PASSED and verdict.seen and not verdict.findings
    return _word(verdict.outcome) + f", same as the {'baseline' if result.baseline else 'base'}" * bool(same)


def _seen(result: CheckResult) -> str:
    told = ", ".join(f"{name.rpartition(':')[2]} {percent(seen)}" for name, seen in result.verdict.seen)
    return f"would have looked closer at a change of: {told}" if told else "nothing could be compared by time"


def _cold(cold: ColdStep, profile: CostProfile, *, device: bool) -> str:
    """The first step beside a warm one, and the operators that made it dear."""
    warm = profile.by_name()

    def clock(name: str, host_us: float, device_us: float) -> str:
        then = warm.get(name)
        words = f"{name} {short_time(host_us)}" + (f" (warm {short_time(then.self_host_us)})" if then else "")
        on_device = f" (warm {short_time(then.self_device_us)})" if then else ""
        return words + (f", on the device {short_time(device_us)}{on_device}" if device and device_us > 0 else "")

    dearest = "; ".join(clock(*op) for op in cold.ops)
    return f"first step, cold: {short_time(cold.wall_us)} (warm {short_time(profile.wall_us)}); {dearest}"


def _row(op: OpCost, *, device: bool) -> list[str]:
    times = [f"{op.self_host_us:,.1f}", *([f"{op.self_device_us:,.1f}"] if device else [])]
    return [op.name, op.family[:12], str(op.calls), *times, share_text(op.share)]


def wrapped(line: str, indent: str) -> list[str]:
    """The line, broken at 80 columns between words, a figure and its unit being one word.

    What follows the first break starts with `indent`.
    """
    text = line.lstrip(" ")
    own = line[: len(line) - len(text)]  # given apart: a first word that is too long would lose it
    lines = textwrap.wrap(
        _WITHIN_A_FIGURE.sub(_GLUE, text), WIDTH,
        initial_indent=own, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [one.replace(_GLUE, " ") for one in lines] or [""]


def _relative(path: Path, root: Path) -> Path:
    return path.relative_to(root) if path.is_relative_to(root) else path
