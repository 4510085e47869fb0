"""Batch sizes and devices side by side, what changes when only they do; and the checks of one test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.grouping import configuration, groups, side_by_side
from pytest_opcost.report.quantities import share_text, short_time
from pytest_opcost.report.shares import MOST_FAMILIES, dearest_families, family_share
from pytest_opcost.report.tables import WIDTH, narrow_table, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.results import CheckResult

#: What fits 80 columns: so many figures, beside rows of such names, below others.
_MOST_COLUMNS, _OF_ROWS, _LEAST_WIDTH, _LONGEST_NAME = 5, 20, 8, 24


def comparison_lines(results: Sequence[CheckResult]) -> list[str]:
    """One table for each test that ran in several configurations, a column for each device and batch size; and one for
    each that made several checks, a column for each check.
    """
    lines: list[str] = []
    for group in groups(results):
        members = group.members
        if len(members) > 1:
            lines += _tables(group.title, members, [configuration(one.subject, size="") for one in members])
    for test in side_by_side(results):
        lines += _tables(test.test, test.members, test.names)
    return lines


def _tables(title: str, members: Sequence[CheckResult], names: Sequence[str]) -> Iterator[str]:
    """A table, or several below each other where there are more columns than fit."""
    short = shortened(names, _LONGEST_NAME)
    width = max(len(short[name]) for name in names)
    most = min(_MOST_COLUMNS, (WIDTH - _OF_ROWS) // (max(width, _LEAST_WIDTH) + 4))
    for start in range(0, len(members), most):
        columns = slice(start, start + most)
        yield from (title, *_table(members[columns], [short[name] for name in names[columns]]), "")


def _table(members: Sequence[CheckResult], names: Sequence[str]) -> list[str]:
    headers = ["", *names]
    rows = [["step", *(short_time(one.profile.wall_us) for one in members)]]
    if all(one.subject.batch_size for one in members):
        rows.append(["a sample", *(short_time(one.profile.wall_us / (one.subject.batch_size or 1)) for one in members)])
    for name in dict.fromkeys(name for one in members for name in one.ratios):
        rows.append([name, *(f"{one.ratios[name]:.3g}" if name in one.ratios else "-" for one in members)])
    for family in dearest_families(members)[:MOST_FAMILIES]:
        shares = (family_share(one, family) for one in members)
        rows.append([f"{family}, share", *(share_text(share) for share in shares)])
    return narrow_table(rows, headers, left=1)
