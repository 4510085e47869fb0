"""JSON as pytest-benchmark saves it, for `pytest-benchmark compare` and what else reads that; times are seconds.

Each check is a group, with the benchmarks `<test> step` (on the wall) and `<test> <operator>`: its self time a step, on
the clock that is judged, in as many rounds as there are samples. Where one figure is known there is one round.
"""

from __future__ import annotations

from statistics import fmean, median, quantiles, stdev
from typing import TYPE_CHECKING, Any

from pytest_opcost.report.exports.exported import checks_of, dearest, json_text, title_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.results import CheckResult, RunResults

#: The version of pytest-benchmark whose file this is like; its readers do not ask.
_LIKE = "5.0.0"
#: What pytest-benchmark writes where there is no version control.
_COMMIT = {"id": "unversioned", "time": None, "author_time": None, "dirty": False, "project": "", "branch": "(unknown)"}


def export(run: RunResults) -> str:
    """The document as text."""
    checks = checks_of(run)
    return json_text(
        {
            "machine_info": _machine(checks[0]) if checks else {},
            "commit_info": _COMMIT,
            "benchmarks": [benchmark for result in checks for benchmark in _benchmarks(result)],
            "datetime": run.started,
            "version": _LIKE,
        }
    )


def _machine(result: CheckResult) -> dict[str, object]:
    environment = result.profile.environment
    names = ("machine_key", "device", "device_name", "capability", "torch", "threads", "allocator")
    about = {name: getattr(environment, name) for name in names} | dict(environment.details)
    return {"node": environment.machine_key, "cpu": {"brand_raw": environment.device_name}, **about}


def _benchmarks(result: CheckResult) -> Iterator[dict[str, Any]]:
    profile, subject = result.profile, result.subject
    title = title_of(result)
    params = {"device": subject.device, "batch_size": subject.batch_size}
    about = {"machine": profile.environment.machine_key, "verdict": result.verdict.outcome.value}

    def benchmark(what: str, us: Sequence[float], **more: object) -> dict[str, Any]:
        return {
            "group": title,
            "name": f"{title.partition('::')[2] or title} {what}",
            "fullname": f"{title} {what}",
            "params": params,
            "param": "-".join(str(value) for value in params.values() if value is not None),
            "extra_info": {**about, **more},
            "options": {"warmup": True, "timer": "torch.profiler"},
            "stats": _stats([one / 1e6 for one in us], profile.steps),
        }

    if profile.wall_us > 0:
        yield benchmark("step", [profile.wall_us], ratios=dict(result.ratios))
    for op in dearest(result):
        samples = op.samples if len(op.samples) > 1 and min(op.samples) > 0 else (profile.cost_us(op),)
        yield benchmark(op.name, samples, family=op.family, calls=op.calls, clock=profile.clock)


def _stats(data: Sequence[float], iterations: int) -> dict[str, Any]:
    """What pytest-benchmark knows of its rounds, in seconds; quartiles as `statistics.quantiles` has them."""
    mean, middle = fmean(data), median(data)
    q1, _, q3 = quantiles(data, n=4, method="inclusive") if len(data) > 1 else (middle, middle, middle)
    spread = stdev(data) if len(data) > 1 else 0.0
    near = [one for one in data if q1 - 1.5 * (q3 - q1) <= one <= q3 + 1.5 * (q3 - q1)]
    far, beyond = sum(abs(one - mean) > spread for one in data if spread), len(data) - len(near)
    return {
        "min": min(data), "max": max(data), "mean": mean, "stddev": spread, "rounds": len(data), "median": middle,
        "iqr": q3 - q1, "q1": q1, "q3": q3, "iqr_outliers": beyond, "stddev_outliers": far,
        "outliers": f"{far};{beyond}", "ld15iqr": min(near), "hd15iqr": max(near), "ops": 1 / mean, "total": sum(data),
        "data": list(data), "iterations": iterations,
    }  # fmt: skip
