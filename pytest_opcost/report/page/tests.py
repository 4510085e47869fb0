"""One check's result -> what its section shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.judge import Kind, Outcome
from pytest_opcost.report.grouping import configuration
from pytest_opcost.report.operators import clocks, has_inclusive, ranked
from pytest_opcost.report.page.names import anchor_of, trace_of
from pytest_opcost.report.page.telling import Told, told
from pytest_opcost.report.quantities import (
    NONE,
    band_text,
    change_text,
    digits,
    flop_text,
    rate_text,
    time_text,
    times_text,
)

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile
    from pytest_opcost.report.operators import Ranked
    from pytest_opcost.results import CheckResult

#: The gravest first.
OUTCOMES = (Outcome.DRIFTED, Outcome.INCONCLUSIVE, Outcome.NOT_JUDGED, Outcome.RECORDED, Outcome.PASSED)


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """A row of the operator table: a ranking's, with what is exactly known of it. `kernels` have their full names."""

    ranked: Ranked
    flops: int
    rate: str
    per_second: float
    kernels: tuple[tuple[str, int], ...] = ()
    inputs: tuple[tuple[str, int], ...] = ()
    places: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What is behind the row, in a word or two."""
        if count := len(self.kernels):
            return "1 kernel" if count == 1 else f"{count} kernels"
        return "inputs" if self.inputs else "places"


@dataclass(frozen=True, slots=True)
class ClockView:
    """A step looked at by one clock (`host`, `device`): whether it tells the operators' total times beside their own,
    and what they compute.
    """

    clock: str
    name: str
    rows: tuple[OperatorRow, ...]
    total_us: float
    inclusive: bool
    computes: bool


@dataclass(frozen=True, slots=True)
class RatioRow:
    """A ratio now and in the baseline, and how far it may move by itself, in words."""

    form: str
    now: str
    before: str
    change: str
    band: str


@dataclass(frozen=True, slots=True)
class ColdRow:
    """An operator in the cold first step and in a warm one."""

    name: str
    cold_us: float
    warm_us: float

    @property
    def factor(self) -> str:
        return times_text(self.cold_us / self.warm_us) if self.warm_us > 0 else NONE


@dataclass(frozen=True, slots=True)
class TestView:
    """The section of one check."""

    __test__ = False  # no class of tests

    result: CheckResult
    anchor: str
    configuration: str
    outcome: str
    word: str
    told: tuple[Told, ...]
    views: tuple[ClockView, ...]
    ratios: tuple[RatioRow, ...]
    cold: tuple[ColdRow, ...]
    waits: tuple[str, ...]
    trace: str | None
    accept: str

    @property
    def acceptable(self) -> bool:
        """Whether there are new figures that a baseline could take over."""
        return self.result.compared and any(
            one.fails or one.kind is Kind.CHEAPER for one in self.result.verdict.findings
        )

    @property
    def opened(self) -> bool:
        """Whether it is worth reading before anybody asks for it."""
        return self.result.verdict.outcome in (Outcome.DRIFTED, Outcome.INCONCLUSIVE)


def test_view(result: CheckResult) -> TestView:
    """What is shown of one check."""
    profile, subject = result.profile, result.subject
    return TestView(
        result=result,
        anchor=anchor_of(subject),
        configuration=configuration(subject),
        outcome=result.verdict.outcome.value,
        word=result.verdict.outcome.words,
        told=told(result),
        views=tuple(_clock_view(profile, clock, result.top) for clock in clocks(profile)),
        ratios=ratio_rows(result),
        cold=_cold(profile),
        waits=tuple(
            f"{op.name} {time_text(max(op.self_host_us, op.self_device_us))}" for op in profile.ops if op.waits
        ),
        trace=trace_of(subject) if profile.timeline else None,
        accept=subject.update_command,
    )


test_view.__test__ = False  # type: ignore[attr-defined]


def ratio_rows(result: CheckResult) -> tuple[RatioRow, ...]:
    """Every ratio, beside the baseline's where it has one."""
    before, bands = result.baseline_ratios, dict(result.verdict.ratio_bands)
    return tuple(
        RatioRow(
            form,
            digits(value),
            digits(before[form]) if form in before else NONE,
            change_text(value / before[form] - 1) if before.get(form) else NONE,
            band_text(bands[form]) if form in bands else NONE,
        )
        for form, value in result.ratios.items()
    )


def _clock_view(profile: CostProfile, clock: str, top: int) -> ClockView:
    total = profile.total_device_us if clock == "device" else profile.total_host_us
    full = dict(profile.kernel_names)
    rows = tuple(_operator_row(row, full) for row in ranked(profile, clock, top))
    name = "Device view" if clock == "device" else "CPU view"
    return ClockView(clock, name, rows, total, inclusive=has_inclusive(profile), computes=clock == profile.clock)


def _operator_row(row: Ranked, full_names: dict[str, str]) -> OperatorRow:
    facts = row.op.facts if row.op is not None else None
    if facts is None:
        return OperatorRow(row, 0, NONE, 0.0)
    places = dict.fromkeys(
        ", ".join(part for part in (place.module, place.phase, place.line) if part) for place in facts.places
    )
    return OperatorRow(
        ranked=row,
        flops=facts.flops,
        rate=rate_text(facts.flops, row.us),
        per_second=facts.flops / row.us * 1e6 if row.us > 0 else 0.0,
        kernels=tuple((full_names.get(name, name), count) for name, count in facts.kernels),
        inputs=facts.inputs,
        places=tuple(places),
    )


def _cold(profile: CostProfile) -> tuple[ColdRow, ...]:
    if profile.cold is None:
        return ()
    warm = profile.by_name()
    dearest = (
        ColdRow(name, host_us, warm[name].self_host_us if name in warm else 0.0)
        for name, host_us, _ in profile.cold.ops
    )
    return (ColdRow("the whole step", profile.cold.wall_us, profile.wall_us), *dearest)


def flops_of(row: OperatorRow) -> str:
    """An operator's FLOPs as they are read."""
    return flop_text(row.flops)
