"""The Lab's second result: batch sizes side by side, devices too, whole steps and operator by operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.charts import ratio_curve
from pytest_opcost.report.gfm import code, plain, table
from pytest_opcost.report.grouping import configuration, groups, side_by_side
from pytest_opcost.report.markdown.titles import titled
from pytest_opcost.report.quantities import digits, share_text, time_text
from pytest_opcost.report.shares import MOST_FAMILIES, dearest_families, family_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.report.markdown.pictures import Pictures
    from pytest_opcost.results import CheckResult, RunResults


def comparison_section(run: RunResults, pictures: Pictures) -> Iterator[str]:
    """For each test that ran in several configurations: their figures, the ratio as a curve, their operators; then the
    checks of those that made several.
    """
    several = [group for group in groups(run.checks) if len(group.members) > 1]
    for group in several:
        members = group.members
        yield from (f"#### {titled(group)}", "")
        headers = [plain(configuration(one.subject, size="")) for one in members]
        yield from table(["", *headers], _figures(members))
        yield ""
        yield from _curves(members, pictures)
        yield from _operators(members, headers)
    if not several:
        yield from ("No test ran in more than one configuration.", "")
    for test in side_by_side(run.checks):
        yield from (f"#### The checks of {code(test.test)}", "")
        yield from table(["", *map(plain, test.names)], _figures(test.members))
        yield ""


def _curves(members: Sequence[CheckResult], pictures: Pictures) -> list[str]:
    figure = ratio_curve(members)
    return [] if figure is None else pictures.add(f"Ratios of {members[0].subject.family} over batch size", figure)


def _figures(members: Sequence[CheckResult]) -> Iterator[list[str]]:
    """The rows of a table with a column for each check: step times, ratios, and the dearest families' shares."""
    yield ["step", *(time_text(one.profile.wall_us) for one in members)]
    if all(one.subject.batch_size for one in members):
        yield ["an image", *(time_text(one.profile.wall_us / (one.subject.batch_size or 1)) for one in members)]
    if any(one.profile.cold for one in members):
        colds = [one.profile.cold for one in members]
        yield ["first step, cold", *(time_text(cold.wall_us) if cold else "-" for cold in colds)]
    for name in dict.fromkeys(name for one in members for name in one.ratios):
        yield [plain(name), *(digits(one.ratios[name]) if name in one.ratios else "-" for one in members)]
    for family in dearest_families(members)[:MOST_FAMILIES]:
        yield [f"{plain(family)}, share", *(share_text(family_share(one, family)) for one in members)]


def _operators(members: Sequence[CheckResult], headers: Sequence[str]) -> Iterator[str]:
    """Every operator that is among the top ones somewhere: its time and share in each configuration."""
    names = {op.name: 0.0 for one in members for op in one.profile.top(one.top)[0]}
    known = [one.profile.by_name() for one in members]
    for name in names:
        names[name] = max(ops[name].share for ops in known if name in ops)

    def cell(index: int, name: str) -> str:
        op = known[index].get(name)
        return "-" if op is None else f"{time_text(members[index].profile.cost_us(op))} ({share_text(op.share)})"

    rows = (
        [code(name), *(cell(index, name) for index in range(len(members)))]
        for name in sorted(names, key=lambda name: -names[name])
    )
    yield from table(["operator", *headers], rows)
    yield ""
