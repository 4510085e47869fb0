"""Bencher Metric Format: benchmarks by name, each with measures; times are nanoseconds, Bencher's own unit of latency.

`<test>` has `latency` (the step on the wall), `self-time` (of all operators, on the clock that is judged) and a measure
for each ratio, `ratio-conv-addmm`; `<test>: <operator>` has `latency`, its self time a step. Values of single rounds
bound those, where there are any. The machine is Bencher's testbed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.facts import digest
from pytest_opcost.report.exports.exported import checks_of, dearest, json_text, title_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.results import CheckResult, RunResults

_LONGEST_NAME, _LONGEST_MEASURE = 1024, 64


def export(run: RunResults) -> str:
    """The mapping as text."""
    return json_text({name: measures for result in checks_of(run) for name, measures in _benchmarks(result).items()})


def _benchmarks(result: CheckResult) -> dict[str, dict[str, dict[str, float]]]:
    profile, title = result.profile, title_of(result)
    ratios = {_measure(form): {"value": value} for form, value in result.ratios.items()}
    step = {"latency": _metric(profile.wall_us), "self-time": _metric(profile.total_us)} | ratios
    found = {_shortened(title, _LONGEST_NAME): step}
    for op in dearest(result):
        name = _shortened(f"{title}: {op.name}", _LONGEST_NAME)
        found[name] = {"latency": _metric(profile.cost_us(op), op.samples)}
    return found


def _metric(us: float, samples: Sequence[float] = ()) -> dict[str, float]:
    named = {"value": us} | ({"lower_value": min(samples), "upper_value": max(samples)} if len(samples) > 1 else {})
    return {name: float(f"{1e3 * value:.10g}") for name, value in named.items()}


def _measure(form: str) -> str:
    """A ratio's name as a slug: `conv/addmm forward` -> `ratio-conv-addmm-forward`."""
    slug = "".join(one if one.isascii() and one.isalnum() else "-" for one in f"ratio-{form}".lower())
    return _shortened("-".join(filter(None, slug.split("-"))), _LONGEST_MEASURE)


def _shortened(name: str, most: int) -> str:
    """The name, or its start and a digest of it all where it is longer than Bencher takes."""
    return name if len(name) <= most else f"{name[: most - 9].rstrip()}-{digest(name)}"
