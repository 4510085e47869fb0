"""Rounds of two commits, made in turns -> the verdict on their pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pytest_opcost.judge.decide import judge, only_exact
from pytest_opcost.judge.disturbed import alike
from pytest_opcost.judge.reference import FEWEST_ROUNDS, Reference
from pytest_opcost.judge.verdict import CORE, Finding, Kind
from pytest_opcost.merging import REPETITIONS, merged, repetitions_of, with_facts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.judge.reference import Rules
    from pytest_opcost.judge.verdict import Verdict

Pair: TypeAlias = "tuple[CostProfile, CostProfile]"  # head's and base's


def judge_pairs(
    head: Sequence[CostProfile],
    base: Sequence[CostProfile],
    rules: Rules,
    *,
    in_turns: bool = False,
    other_torch: bool = False,
) -> Verdict:
    """Rounds of a commit against as many of another one, its base, each made beside its fellow: `in_turns`, where both
    measured at the same time, a few steps each, else one after the other.

    Exact facts are those of the first ones. Costs are judged by the pairs whose two sides had the core in the same way,
    and fail only where these are `FEWEST_ROUNDS` or more. Nearly all that the two sides differ by is where their memory
    lies, which each repetition of a test draws anew: on a device each is a pair of its own, on a host every
    `REPETITIONS` of them.
    """
    pairs = _by_process(head, base)
    rounds, beside = _sides_of(pairs)
    profile = with_facts_of(base[0], merged(beside))
    known = Reference(
        profile,
        (len(beside),),
        paired=True,
        in_turns=in_turns,
        processes=tuple(map(len, pairs)),
        other_torch=other_torch,
    )
    verdict = judge(known, [with_facts_of(head[0], rounds[0]), *rounds[1:]], rules)
    if not verdict.failing or (same := len(alike(head, base))) >= FEWEST_ROUNDS:
        return verdict
    words = (
        f"in {same} of {len(head)} pairs of rounds both sides had the core in the same way: too few to say that "
        "costs differ"
    )
    return only_exact(verdict, Finding(Kind.NOISE, CORE, "total", words))


def compared_rounds(
    head: Sequence[CostProfile], base: Sequence[CostProfile]
) -> tuple[list[CostProfile], list[CostProfile]]:
    """What is compared of both sides, pair by pair; all of it where no two sides had the core in the same way."""
    return _sides_of(_by_process(head, base))


def _sides_of(pairs: Sequence[Sequence[Pair]]) -> tuple[list[CostProfile], list[CostProfile]]:
    every = [pair for of_process in pairs for pair in of_process]
    return [one for one, _ in every], [other for _, other in every]


def _by_process(head: Sequence[CostProfile], base: Sequence[CostProfile]) -> list[list[Pair]]:
    """The pairs that are compared, those of the same two processes together."""
    used = alike(head, base) or range(min(len(head), len(base)))
    return [[*zip(_counted(head[number]), _counted(base[number]))] for number in used]


def _counted(one: CostProfile) -> list[CostProfile]:
    """What counts by itself of what one process found."""
    return repetitions_of(one, 1 if one.clock == "device" else REPETITIONS)
