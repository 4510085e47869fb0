"""OpenMetrics text, for Prometheus and its kind; times are seconds, since OpenMetrics asks for base units.

Every sample has the labels `test`, `check`, `device`, `batch_size` and `machine`; what else it has is told beside each
family below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge import Outcome
from pytest_opcost.report.exports.exported import checks_of, dearest
from pytest_opcost.report.exports.metrics_text import Family, Sample, metrics_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_opcost.results import CheckResult, RunResults


def export(run: RunResults) -> str:
    """The text, with a family for each kind of figure."""
    checks = checks_of(run)
    return metrics_text(
        [
            Family("opcost_step_seconds", "Time of one step on the wall.", _each(checks, _step), "seconds"),
            # clock
            Family("opcost_self_seconds", "Self times of all operators in one step.", _each(checks, _total), "seconds"),
            # operator, family, clock
            Family("opcost_operator_self_seconds", "Self time in one step.", _each(checks, _costs), "seconds"),
            # operator, family
            Family("opcost_operator_calls", "Calls in one step.", _each(checks, _calls)),
            # ratio
            Family("opcost_ratio", "What one side of a declared ratio costs, by the other.", _each(checks, _ratios)),
            # figure: an operator or a ratio
            Family("opcost_seen_from", "The least relative change that would be looked into.", _each(checks, _seen)),
            # opcost_verdict
            Family("opcost_verdict", "How the check ended.", _each(checks, _verdict), kind="stateset"),
            Family(
                "opcost_environment", "What was measured on.", _environments(checks), kind="info", suffix="_info"
            ),
        ]
    )  # fmt: skip


def labels_of(result: CheckResult, **more: str) -> dict[str, str | None]:
    """The labels that every sample of a check has, and those of this one."""
    subject, size = result.subject, result.subject.batch_size
    return {
        "test": subject.test,
        "check": subject.check,
        "device": subject.device,
        "batch_size": None if size is None else str(size),
        "machine": result.profile.environment.machine_key,
        **more,
    }


def _each(checks: Iterable[CheckResult], samples: Callable[[CheckResult], Iterable[Sample]]) -> list[Sample]:
    return [sample for result in checks for sample in samples(result)]


def _step(result: CheckResult) -> Iterable[Sample]:
    yield Sample(result.profile.wall_us / 1e6, labels_of(result))


def _total(result: CheckResult) -> Iterable[Sample]:
    profile = result.profile
    yield Sample(profile.total_host_us / 1e6, labels_of(result, clock="host"))
    if profile.clock == "device":
        yield Sample(profile.total_device_us / 1e6, labels_of(result, clock="device"))


def _costs(result: CheckResult) -> Iterable[Sample]:
    for op in dearest(result):
        yield Sample(op.self_host_us / 1e6, labels_of(result, operator=op.name, family=op.family, clock="host"))
        if result.profile.clock == "device":
            yield Sample(op.self_device_us / 1e6, labels_of(result, operator=op.name, family=op.family, clock="device"))


def _calls(result: CheckResult) -> Iterable[Sample]:
    return [Sample(op.calls, labels_of(result, operator=op.name, family=op.family)) for op in dearest(result)]


def _ratios(result: CheckResult) -> Iterable[Sample]:
    return [Sample(value, labels_of(result, ratio=form)) for form, value in result.ratios.items()]


def _seen(result: CheckResult) -> Iterable[Sample]:
    return [Sample(value, labels_of(result, figure=name)) for name, value in dict(result.verdict.seen).items()]


def _verdict(result: CheckResult) -> Iterable[Sample]:
    ended = result.verdict.outcome
    return [Sample(outcome is ended, labels_of(result, opcost_verdict=outcome.value)) for outcome in Outcome]


def _environments(checks: Sequence[CheckResult]) -> list[Sample]:
    found = {one.profile.environment.machine_key: one.profile.environment for one in checks}
    names = ("device", "device_name", "capability", "torch", "allocator")
    return [
        Sample(1, {"machine": key, **{name: getattr(one, name) for name in names}, "threads": str(one.threads)})
        for key, one in found.items()
    ]
