"""What a run says of the baselines that it recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge import Outcome
from pytest_opcost.judge.reference import FEWEST_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.results import CheckResult


def recorded_lines(results: Sequence[CheckResult]) -> Iterator[str]:
    """What is to be done with them, and what they cannot do; nothing where none was written."""
    written = [result for result in results if result.text is not None]
    if not written:
        return
    yield "Recorded baselines belong in git, so that the next run can compare with them."
    if any(
        result.verdict.outcome is Outcome.RECORDED and result.verdict.measurements < FEWEST_ROUNDS for result in written
    ):
        yield (
            f"Those of fewer than {FEWEST_ROUNDS} rounds can only support a weak verdict: exact facts are compared "
            "in full, costs loosely. Add rounds with --opcost-add-rounds."
        )
