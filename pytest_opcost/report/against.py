"""The line that says what a run was judged against, where that was no baseline, and what drifted the most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge.words import headline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.results import CheckResult


def against_text(base: str, results: Sequence[CheckResult]) -> str:
    """`against main (47e2216eb) in 5 pairs: aten::gelu +60 % (2,400 us a step, was 1,500 us)`.

    Empty where nothing could be compared with it. Of several tests that drifted it tells the first, and how many more;
    where none did, whether something moved all the same, such as an operator that became cheaper, and how many tests
    could not be compared.
    """
    compared = [result for result in results if result.compared]
    if not compared:
        return ""
    counts = sorted(result.verdict.measurements for result in compared)
    pairs = f"{counts[0]} pairs" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]} pairs each"
    text = f"against {base} in {pairs}"
    drifted = [result for result in compared if result.verdict.failing]
    if not drifted:
        left = len(results) - len(compared)
        besides = f", {left} not judged" if left else ""
        return f"{text}: nothing {'moved' if all(one.verdict.unmoved for one in compared) else 'drifted'}{besides}"
    more = len(drifted) - 1
    others = f"; {more} more test{'s' if more > 1 else ''} drifted" if more else ""
    return f"{text}: {headline(drifted[0].verdict.failing, drifted[0].causes)}{others}"
