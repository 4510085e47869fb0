"""The checks of a run as the report tells of them: each test with its configurations, by device and batch size."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_opcost.report.gfm import code, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.results import CheckResult


def by_family(checks: Sequence[CheckResult]) -> dict[str, list[CheckResult]]:
    """The checks that differ in device and batch size alone, under their common title (Markdown)."""
    groups: dict[str, list[CheckResult]] = defaultdict(list)
    for one in checks:
        named = f" ({plain(one.subject.check)})" if one.subject.check is not None else ""
        groups[code(one.subject.family) + named].append(one)
    return {title: sorted(members, key=_order) for title, members in groups.items()}


def largest_batches(members: Sequence[CheckResult]) -> dict[str, CheckResult]:
    """For each device the check with the most images in a batch."""
    return {one.subject.device: one for one in sorted(members, key=_order)}


def configuration(result: CheckResult) -> str:
    """Device and batch size in words."""
    size = result.subject.batch_size
    return result.subject.device + (f", batch size {size}" if size is not None else "")


def _order(result: CheckResult) -> tuple[str, int]:
    return result.subject.device, result.subject.batch_size or 0
