"""One comparison in words, and as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_opcost.judge import Outcome, signed, unsigned
from pytest_opcost.judge.words import failure_text, headline
from pytest_opcost.report.quantities import short_time
from pytest_opcost.report.tables import narrow_table
from pytest_opcost.report.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.judge import Compared
    from pytest_opcost.results import CheckResult
    from pytest_opcost.shell.known import Known

#: Microseconds of more digits than this would need are told in powers of ten.
_LARGE = 1e9


def as_lines(before: Known, after: Known, result: CheckResult, *, table: bool) -> Iterator[str]:
    """What became of one test; with a `table` each operator whose cost was judged."""
    verdict = result.verdict
    yield from wrapped(f"{_word(verdict.outcome)}  {result.subject.title}", "    ")
    if verdict.failing:
        yield from wrapped(f"    {headline(verdict.failing, result.causes)}", "      ")
        _, *rest = failure_text("", verdict, "", result.origin, "", result.causes).splitlines()
        for line in rest:
            yield from wrapped(f"    {line}", "      " if line[0] != " " else "        ")
    else:
        yield from wrapped(f"    compared with {result.origin}", "      ")
        for finding in verdict.findings:
            yield from wrapped(f"    - {finding.text}", "      ")
    if before.identity != after.identity:
        yield from wrapped(f"    another test: {before.subject.title}", "      ")
    yield from wrapped(f"    {_figures(before, result)}", "      ")
    if table and verdict.compared:
        headers = ["operator", "was us", "now us", "change", "its own", "noise up to"]
        yield from narrow_table([_row(one) for one in verdict.compared], headers, left=1)
        beyond = "" if all(one.within for one in verdict.compared) else '* beyond "noise up to"; '
        yield from wrapped(f'{beyond}"its own" leaves out what all operators did alike', "  ")


def _word(outcome: Outcome) -> str:
    return outcome.words.upper() if outcome is Outcome.DRIFTED else outcome.words


def _figures(before: Known, result: CheckResult) -> str:
    profile, old = result.profile, before.profile
    moved = f" ({signed(profile.total_us / old.total_us - 1)})" if old.total_us > 0 and profile.total_us > 0 else ""
    parts = [f"operators {short_time(profile.total_us)}, was {short_time(old.total_us)}{moved}"]
    parts += [
        f"{name} {value:.3g}" + (f" (was {result.baseline_ratios[name]:.3g})" if name in result.baseline_ratios else "")
        for name, value in result.ratios.items()
    ]
    return "; ".join(parts)


def _row(one: Compared) -> list[str]:
    change = signed(one.now_us / one.before_us - 1) if one.before_us > 0 else ""
    own = f"{signed(one.own)}{'' if one.within else ' *'}"
    return [one.op, _time(one.before_us), _time(one.now_us), change, own, unsigned(one.band)]


def _time(us: float) -> str:
    return f"{us:,.1f}" if us < _LARGE else f"{us:.3g}"


def as_data(before: Known, after: Known, result: CheckResult) -> dict[str, Any]:
    """The same for programs; fields that `contract.TEST` has too mean the same."""
    verdict = result.verdict
    return {
        "test": result.subject.test,
        "check": result.subject.check,
        "machine": after.machine,
        "machine_before": before.machine,
        "test_before": before.subject.test,
        "rounds": sum(after.sessions),
        "rounds_before": sum(before.sessions),
        "verdict": verdict.outcome.value,
        "compared": result.compared,
        "cost_judged": verdict.cost_judged,
        "total_us": after.profile.total_us,
        "total_us_before": before.profile.total_us,
        "step_us": after.profile.wall_us,
        "step_us_before": before.profile.wall_us,
        "machine_factor": verdict.factor,
        "ratios": dict(result.ratios),
        "baseline_ratios": dict(result.baseline_ratios),
        "compared_ops": [asdict(one) for one in verdict.compared],
        "ratio_bands": dict(verdict.ratio_bands),
        "findings": [{**asdict(finding), "kind": finding.kind.value} for finding in verdict.findings],
        "causes": [asdict(cause) for cause in result.causes],
    }
