"""CSV after RFC 4180, UTF-8, one row for a step, each of its operators and each of its ratios (`kind`).

Times are microseconds a step, `share` is between 0 and 1, `value` and `baseline_value` are a ratio's; a cell is empty
where a column says nothing of such a row. Text that a spreadsheet would take for a formula has an apostrophe before it.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from pytest_opcost.report.exports.exported import checks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.results import CheckResult, RunResults

COLUMNS = (
    "started", "test", "check", "device", "batch_size", "machine", "torch", "verdict", "kind", "name", "family",
    "calls", "wall_us", "self_host_us", "self_device_us", "share", "flops", "alloc_bytes", "value", "baseline_value",
)  # fmt: skip
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def export(run: RunResults) -> str:
    """The table as text."""
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, COLUMNS)
    writer.writeheader()
    for result in checks_of(run):
        for row in _rows(result):
            writer.writerow({name: _cell(cell) for name, cell in {"started": run.started, **row}.items()})
    return table.getvalue()


def _rows(result: CheckResult) -> Iterator[dict[str, object]]:
    subject, profile = result.subject, result.profile
    common = {
        "test": subject.test, "check": subject.check, "device": subject.device, "batch_size": subject.batch_size,
        "machine": profile.environment.machine_key, "torch": profile.environment.torch,
        "verdict": result.verdict.outcome.value,
    }  # fmt: skip
    yield {
        **common, "kind": "step", "name": "step", "wall_us": profile.wall_us, "self_host_us": profile.total_host_us,
        "self_device_us": profile.total_device_us, "share": 1.0, "flops": profile.flops,
    }  # fmt: skip
    for op in profile.ops:
        facts = op.facts
        yield {
            **common, "kind": "operator", "name": op.name, "family": op.family, "calls": op.calls,
            "self_host_us": op.self_host_us, "self_device_us": op.self_device_us, "share": op.share,
            "flops": facts and facts.flops, "alloc_bytes": facts and facts.alloc_bytes,
        }  # fmt: skip
    for form, value in result.ratios.items():
        before = result.baseline_ratios.get(form)
        yield {**common, "kind": "ratio", "name": form, "value": value, "baseline_value": before}


def _cell(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.10g}")  # no tail of the addition's rounding
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value
