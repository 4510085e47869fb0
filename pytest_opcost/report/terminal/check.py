"""One check on the terminal: a line or two, or with -v its whole table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge import Kind, Outcome, unsigned
from pytest_opcost.report.quantities import share_text, short_time
from pytest_opcost.report.tables import narrow_table
from pytest_opcost.report.terminal.baselines import only_facts_compared
from pytest_opcost.report.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.costs import ColdStep, CostProfile, OpCost
    from pytest_opcost.results import CheckResult

_COMPARED = (Outcome.PASSED, Outcome.DRIFTED, Outcome.INCONCLUSIVE)
_FINDINGS_OF_A_FAILURE = 3


def is_remarkable(result: CheckResult) -> bool:
    """Whether there is more to tell of it than the count of its outcome does."""
    not_written = result.changes and result.text is None
    return result.fails or bool(result.verdict.told or result.profile.remarks or not_written)


def brief_lines(result: CheckResult) -> Iterator[str]:
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
        first, *rest = finding.text.splitlines() or [""]
        yield from wrapped(f"    - {first}", "      ")
        for line in filter(None, rest):
            yield from wrapped(f"      {line}", "        ")
        if finding.kind is Kind.CHEAPER and result.baseline:
            yield from wrapped(f"      bank it: {result.subject.update_command}", "        ")
    if result.verdict.failing and result.compared and result.reported_only:
        yield from wrapped(f"    accept it: {result.subject.update_command}", "      ")
    if more := len(findings[told:]):
        yield f"    - and {more} more, in the test's own message"
    if result.changes:
        yield from wrapped(f"    {result.baseline}: {'; '.join(result.changes)}", "      ")
    if only_facts_compared(result):
        yield from wrapped(f"    cost not judged: compared with a baseline {result.origin}", "      ")


def table_lines(result: CheckResult) -> Iterator[str]:
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
    same = f", same as the {'baseline' if result.baseline else 'base'}" if result.verdict.unmoved else ""
    return _word(result.verdict.outcome) + same


def _seen(result: CheckResult) -> str:
    told = ", ".join(f"{name.rpartition(':')[2]} {unsigned(seen)}" for name, seen in result.verdict.seen)
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
