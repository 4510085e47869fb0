"""JSON for github-action-benchmark, tool `customSmallerIsBetter`: a list of times in microseconds (`us`), one a chart.

Each check has `<test>: step` (on the wall), `<test>: operators` (the self times of all, on the clock that is judged)
and `<test>: <operator>`, the machine's key behind each: costs of another machine are another chart. Ratios are left
out, since neither more nor less of them is better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.exports.exported import checks_of, dearest, half_range, json_text, title_of
from pytest_opcost.report.quantities import share_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.results import CheckResult, RunResults


def export(run: RunResults) -> str:
    """The list as text."""
    return json_text([entry for result in checks_of(run) for entry in _entries(result)])


def _entries(result: CheckResult) -> Iterator[dict[str, object]]:
    profile, verdict = result.profile, result.verdict.outcome.words

    def entry(what: str, us: float, *told: str) -> dict[str, object]:
        name = f"{title_of(result)}: {what} ({profile.environment.machine_key})"
        return {"name": name, "unit": "us", "value": us, "extra": "\n".join(told)}

    yield entry("step", profile.wall_us, f"verdict: {verdict}", f"steps: {profile.steps}")
    yield entry("operators", profile.total_us, f"verdict: {verdict}", f"clock: {profile.clock}")
    for op in dearest(result):
        row = entry(op.name, profile.cost_us(op), f"calls: {op.calls}", f"share: {share_text(op.share)}")
        spread = half_range(op.samples)
        yield row if spread is None else {**row, "range": f"± {spread:.4g}"}
