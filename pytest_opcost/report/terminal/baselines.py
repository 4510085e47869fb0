"""What is to be done about baselines after a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.judge import Outcome
from pytest_opcost.judge.disturbed import comparable
from pytest_opcost.judge.reference import FEWEST_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.results import CheckResult


def baseline_lines(results: Sequence[CheckResult]) -> Iterator[str]:
    """What to do with those that were recorded, what these cannot do, and how to get those that are missing."""
    if any(only_facts_compared(result) for result in results):
        yield "Costs that were not judged: record this machine's own baselines with --opcost-update-missing."
    written = [result for result in results if result.text is not None]
    if not written:
        return
    yield "Recorded baselines belong in git, so that the next run can compare with them."
    recorded = [result for result in written if result.verdict.outcome is Outcome.RECORDED]
    profiles = [result.profile for result in recorded]
    if busy := sum(not comparable(replace(one, load=0.0), one) for one in profiles):
        which = "it was" if len(recorded) == 1 else f"{busy} of {len(recorded)} {'was' if busy == 1 else 'were'}"
        yield (
            f"There was more work than cores, and {which} recorded in between: calm runs will not compare with that. "
            "Record anew once the machine is calm."
        )
    if any(result.verdict.measurements < FEWEST_ROUNDS for result in recorded):
        yield (
            f"Those of fewer than {FEWEST_ROUNDS} rounds can only support a weak verdict: exact facts are compared "
            "in full, costs loosely. Add rounds with --opcost-add-rounds."
        )


def only_facts_compared(result: CheckResult) -> bool:
    """Whether it was compared with another machine's baseline, which tells nothing of times."""
    return result.verdict.outcome is Outcome.NOT_JUDGED and result.compared
