"""All configurations of one test -> what its page shows: batch sizes and devices side by side, then each by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.report.grouping import configuration
from pytest_opcost.report.page.flow import FlowView, flow_views
from pytest_opcost.report.page.names import page_of
from pytest_opcost.report.page.tests import TestView, test_view
from pytest_opcost.report.quantities import NONE, digits, flop_text, rate_text, share_text, time_text
from pytest_opcost.report.sentences import sentences
from pytest_opcost.report.shares import MOST_FAMILIES, dearest_families, family_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.report.grouping import Group, SideBySide
    from pytest_opcost.results import CheckResult


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One row of the comparison: what is compared, and a value for each configuration."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparedView:
    """A table of results side by side."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[ComparedRow, ...]


@dataclass(frozen=True, slots=True)
class FamilyView:
    """The page of one group."""

    group: Group
    page: str
    has_phases: bool
    compared: ComparedView
    checks: tuple[ComparedView, ...]
    sentences: tuple[str, ...]
    cold: tuple[tuple[str, float, float], ...]
    tests: tuple[TestView, ...]
    flows: tuple[FlowView, ...]


def family_view(group: Group, checks: Sequence[SideBySide] = ()) -> FamilyView:
    """What is shown of all configurations of one test, and of its `checks` where it made several."""
    members = group.members
    return FamilyView(
        group=group,
        page=page_of(group),
        has_phases=any(" " in form for one in members for form in one.ratios),
        compared=ComparedView(
            "Batch sizes and devices side by side",
            tuple(configuration(one.subject) for one in members),
            comparison_rows(members),
        ),
        checks=tuple(
            ComparedView(
                f"The checks of this test, {configuration(one.members[0].subject)}",
                tuple(one.names),
                comparison_rows(one.members),
            )
            for one in checks
        ),
        sentences=sentences(group),
        cold=tuple(
            (configuration(one.subject), one.profile.cold.wall_us, one.profile.wall_us)
            for one in members
            if one.profile.cold is not None
        ),
        tests=tuple(test_view(one) for one in members),
        flows=flow_views(group),
    )


def comparison_rows(members: Sequence[CheckResult]) -> tuple[ComparedRow, ...]:
    """Step and sample time, what each clock adds up to, ratios, FLOPs, and shares of the dearest families."""
    profiles = [one.profile for one in members]
    rows = [("Step", [time_text(one.wall_us) for one in profiles])]
    if any(one.subject.batch_size for one in members):
        rows.append(("A sample", [_a_sample(one) for one in members]))
    rows.append(("Operators, on the host", [time_text(one.total_host_us) for one in profiles]))
    if any(one.clock == "device" for one in profiles):
        on_device = [time_text(one.total_device_us) if one.clock == "device" else NONE for one in profiles]
        rows.append(("Operators, on the device", on_device))
    for form in dict.fromkeys(form for one in members for form in one.ratios):
        rows.append((form, [digits(one.ratios[form]) if form in one.ratios else NONE for one in members]))
    if any(one.flops for one in profiles):
        rows.append(("FLOPs", [flop_text(one.flops) for one in profiles]))
        rows.append(("Achieved", [rate_text(one.flops, one.total_us) for one in profiles]))
    for family in dearest_families(members)[:MOST_FAMILIES]:
        rows.append((f"Share of {family}", [share_text(family_share(one, family)) for one in members]))
    return tuple(ComparedRow(name, tuple(values)) for name, values in rows)


def _a_sample(one: CheckResult) -> str:
    return time_text(one.profile.wall_us / one.subject.batch_size) if one.subject.batch_size else NONE
