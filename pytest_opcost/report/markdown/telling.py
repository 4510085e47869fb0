"""The report in words: what follows from the figures, and what the comparison with the baselines found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.gfm import code, plain, sentence, table
from pytest_opcost.report.grouping import groups
from pytest_opcost.report.quantities import digits, time_text
from pytest_opcost.report.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.results import CheckResult, RunResults


def saying_section(run: RunResults) -> Iterator[str]:
    """Sentences computed from the figures of each test's configurations, where any can be said."""
    said = False
    for group in groups(run.checks):
        if told := sentences(group):
            said = True
            yield from (f"**{code(group.title)}**", "", *(f"- {sentence(one)}" for one in told), "")
    if not said:
        yield from ("No sentence follows from these figures.", "")


def verdict_section(run: RunResults) -> Iterator[str]:
    """The verdict on each check beside its ratios, then causes, findings and remarks in words."""
    if not run.checks:
        yield from ("No step was compared in this run.", "")
        return
    rows = (
        [code(one.subject.title), one.verdict.outcome.words, time_text(one.profile.wall_us), _ratios(one)]
        for one in run.checks
    )
    yield from table(["check", "verdict", "step", "ratios (baseline's)"], rows, left=4)
    yield ""
    for one in run.checks:
        words = [*(cause.message for cause in one.causes), *(finding.text for finding in one.verdict.told)]
        words += one.profile.remarks
        if words:
            yield from (f"{code(one.subject.title)}:", "", *(f"- {sentence(word)}" for word in words), "")


def _ratios(result: CheckResult) -> str:
    return ", ".join(
        f"{plain(name)} {digits(value)}"
        + (f" ({digits(result.baseline_ratios[name])})" if name in result.baseline_ratios else "")
        for name, value in result.ratios.items()
    )
