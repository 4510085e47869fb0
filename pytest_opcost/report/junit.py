"""The few figures of a check that travel as properties of its test, into JUnit's XML and whatever else shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.saving import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.results import CheckResult


def properties(result: CheckResult) -> Iterator[tuple[str, str | float]]:
    """Pairs of a name and a value: outcome, machine key, step in microseconds, ratios, the smallest change seen.

    Names begin with `opcost.`, and with `opcost.<check>.` where the check has a name. `opcost.seen_from` is the
    smallest relative change (0.04 is 4 %) of any operator or ratio that the check would have looked at more closely; it
    is missing where nothing was compared by time. Operators are not among them: their rows are in the exports.
    """
    check = result.subject.check
    # pytest escapes a property's value, not its name.
    start = "opcost." if check is None else f"opcost.{printable(check)}."
    yield f"{start}outcome", result.verdict.outcome.value
    yield f"{start}machine", result.profile.environment.machine_key
    yield f"{start}step_us", _short(result.profile.wall_us)
    for form, value in result.ratios.items():
        yield f"{start}{form.replace(' ', '.')}", _short(value)
    if seen := [change for _, change in result.verdict.seen]:
        yield f"{start}seen_from", _short(min(seen))


def _short(value: float) -> float:
    """Six digits, far below any noise."""
    return float(f"{value:.6g}")
