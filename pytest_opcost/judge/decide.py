"""Findings of one or several rounds -> the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_opcost.judge.cost import cost_findings
from pytest_opcost.judge.disturbed import comparable, disturbance
from pytest_opcost.judge.exact import exact_findings, exactly_changed
from pytest_opcost.judge.facts import ANYWHERE, SAME_CAPABILITY
from pytest_opcost.judge.reference import FEWEST_ROUNDS, HALFWAY
from pytest_opcost.judge.took import with_times
from pytest_opcost.judge.upgrade import across
from pytest_opcost.judge.verdict import CORE, EXACT, Compared, Finding, Kind, Verdict, counted, outcome_of
from pytest_opcost.merging import merged, with_facts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.judge.reference import Reference, Rules

Key: TypeAlias = "tuple[Kind | None, str, bool]"

#: A change this many standard errors beyond the least one is looked at again.
SUSPICIOUS = 2.5
#: Of operators from this share on, at least of the dearest, it is told how small a change would have been seen.
SEEN_SHARE = 0.05
#: Below these scores further rounds are not worth their time: before there are `FEWEST_ROUNDS`, and after.
VERY_UNLIKELY, UNLIKELY = 0.5, 1.0
#: How far further rounds may move what was found: in standard deviations of the part of its noise that they take away.
MORE_TO_COME = 4.0


def judge(reference: Reference, rounds: Sequence[CostProfile], rules: Rules) -> Verdict:
    """Rounds of one step against a reference: exact facts first, then ratios, then operators.

    Times are those of the rounds that compare with the reference, if there are any, see `disturbed`; rounds of pairs
    compare with their fellows, whatever the machine did between one pair and the next.
    """
    from pytest_opcost.judge.timing.changes import changes
    from pytest_opcost.judge.timing.critical import critical_score

    if reference.other_torch:
        exact, reference, rounds = across(reference, rounds, rules)
        # What is only told does the same work, in another way.
        changed = {finding.op for finding in exact if finding.fails}
    else:
        exact = exact_findings(reference.profile, rounds[0])
        changed = exactly_changed(exact, reference.profile, rounds[0])
    alone = () if reference.paired else rounds
    disturbed = tuple(index for index, one in enumerate(alone) if not comparable(reference.profile, one))
    timed = counted(rounds, disturbed)
    compared = changes(reference, timed, rules, changed)
    score = max((change.score for change in compared), default=0.0)
    # Student's quantile takes long to load, and is needed only where something may fail.
    critical = critical_score(compared, rules.tests) if score > SUSPICIOUS else math.inf
    cost = cost_findings(reference, compared.now, compared, critical, SUSPICIOUS, rules)
    words = () if reference.paired else disturbance(reference.profile, compared.now)
    calm = [Finding(Kind.NOISE, CORE, "total", one) for one in words]
    findings = _ordered((*with_times(exact, reference.profile, compared.now), *cost, *calm))
    dear = [one for one in compared.operators if one.share >= SEEN_SHARE] or compared.operators[:1]
    seen = tuple((one.op, one.seen_from(SUSPICIOUS)) for one in (*dear, *compared.ratios))
    table = tuple(
        Compared(one.op, one.before, one.now, math.expm1(one.by), one.band(SUSPICIOUS)) for one in compared.operators
    )
    bands = tuple((one.op, one.band(SUSPICIOUS)) for one in compared.ratios)
    scores = {one.op: (one.score, one.error) for one in compared}
    return Verdict(
        outcome_of(findings), findings, compared.factor, len(rounds),
        score=score, critical=critical, scores=scores, seen=seen, compared=table, ratio_bands=bands,
        disturbed=disturbed,
    )  # fmt: skip


def judge_elsewhere(old: CostProfile, new: CostProfile) -> Verdict:
    """One measurement against another machine's baseline: exact facts only, since costs belong to their machine.

    Kernels are compared where the instruction set or compute capability is the same, since it decides which there are.
    """
    alike = old.environment.capability == new.environment.capability
    findings = exact_findings(old, new, SAME_CAPABILITY if alike else ANYWHERE)
    return Verdict(outcome_of(findings, cost_judged=False), findings, cost_judged=False)


@dataclass(frozen=True, slots=True)
class Again:
    """How a step is measured again: `here`, in this process, or in one that is `fresh`; at most so many of these."""

    here: Callable[[], CostProfile]
    fresh: Callable[[], CostProfile]
    most: int


def confirmed(
    first: CostProfile, judged: Callable[[Sequence[CostProfile]], Verdict], again: Again
) -> tuple[CostProfile, Verdict]:
    """The verdict that a first measurement leads to, after as many more as it takes, and the profile that it is of.

    What is exact is certain once it was reproduced here; what would fail by its cost, and is suspicious both times, is
    told beside it, as not confirmed. Else a cost that may have moved is measured in fresh processes, which did not see
    the first measurement: it fails where the median of `FEWEST_ROUNDS` or more of them says so with certainty, is
    dropped as soon as they make it unlikely, and stays in doubt where no number of them could decide.
    """
    verdict, taken = judged([first]), 1
    if again.most and verdict.disturbed:
        # A neighbour may have gone by now.
        later, taken = again.here(), 2
        if not (calm := judged([later])).disturbed:
            first, verdict = later, calm
    if not again.most or (verdict.score <= SUSPICIOUS and not verdict.failing):
        return first, replace(verdict, measurements=taken)
    second, taken = again.here(), taken + 1
    once_more = judged([second])
    certain, clear = _exact(verdict) & _exact(once_more), verdict.fails_by_time or once_more.fails_by_time
    suspected = _suspected(verdict) & _suspected(once_more)
    quieter, verdict = (first, verdict) if first.total_us <= second.total_us else (second, once_more)
    # A ratio moves with what differs exactly.
    operators = suspected - {finding.key for finding in verdict.failing if finding.kind is Kind.RATIO}
    passing = _instead(verdict, certain, _not_confirmed(verdict, operators) if certain else [])
    decided = certain or verdict.score <= SUSPICIOUS
    if decided or (not clear and _undecidable(verdict, [quieter], judged, again.most)):
        return quieter, replace(passing, measurements=taken)
    rounds, verdict = _rounds(judged, again)
    kept_rounds = counted(rounds, verdict.disturbed)
    profile = with_facts_of(quieter, merged(kept_rounds))
    kept = verdict if len(kept_rounds) >= FEWEST_ROUNDS else _unconfirmed(verdict, len(kept_rounds), len(rounds))
    others = [finding for finding in passing.findings if finding.kind in EXACT]
    findings = _ordered((*others, *kept.findings))
    return profile, replace(kept, outcome=outcome_of(findings), findings=findings, measurements=taken + len(rounds))


def _rounds(judged: Callable[[Sequence[CostProfile]], Verdict], again: Again) -> tuple[list[CostProfile], Verdict]:
    """Fresh rounds until they decide, or until there are as many as there may be, and the verdict on them."""
    rounds: list[CostProfile] = []
    while True:
        rounds.append(again.fresh())
        verdict = judged(rounds)
        if len(rounds) >= again.most:
            return rounds, verdict
        if len(verdict.disturbed) == len(rounds) < HALFWAY:
            continue  # none that compares: the next ones may
        calm = counted(rounds, verdict.disturbed)
        count = len(calm)
        enough = count >= FEWEST_ROUNDS
        # What is not certain by now will hardly become so: further rounds narrow the error less and less.
        if count >= HALFWAY and verdict.score < SUSPICIOUS:
            return rounds, verdict
        if (enough and settled(verdict)) or verdict.score < (UNLIKELY if enough else VERY_UNLIKELY):
            return rounds, verdict
        if _undecidable(verdict, calm, judged, again.most):
            return rounds, verdict


def _undecidable(
    verdict: Verdict, rounds: Sequence[CostProfile], judged: Callable[[Sequence[CostProfile]], Verdict], most: int
) -> bool:
    """Whether nothing that is suspicious after these rounds could fail after as many as there may be.

    More of them lessen what processes differ by, and not what sessions and cards differ by, which is most of a device's
    noise. What they take away, old variance less new, is how far they may yet move a figure. A host's noise has too
    heavy tails for that: of drifts of 8 %, 75 in 100 would be caught instead of 81 (measured).
    """
    if rounds[0].clock == "host" or verdict.fails_by_time:
        return False
    at_most = judged([*rounds] * math.ceil(most / len(rounds)))
    if min(verdict.score, at_most.score) <= SUSPICIOUS:
        return False
    return all(
        _at_best(verdict.scores[name], then) < at_most.critical
        for name, then in at_most.scores.items()
        if name in verdict.scores
    )


def _at_best(now: tuple[float, float], then: tuple[float, float]) -> float:
    """What a figure's score may become, given it and its standard error now, and as they would be if all rounds to come
    said the same.
    """
    (score, error), (last_score, last_error) = now, then
    score = max(score, last_score)
    if last_error > error and score > UNLIKELY:
        return math.inf  # repeated, rounds that disagree look surer to do so: nothing is known of those to come
    return score + MORE_TO_COME * math.sqrt(max(error**2 - last_error**2, 0.0)) / last_error


def settled(verdict: Verdict) -> bool:
    """Whether further rounds have nothing to decide: something fails, or all that is suspicious is certain already."""
    certain = verdict.score > SUSPICIOUS and all(finding.kind is not Kind.NOISE for finding in verdict.findings)
    return certain or bool(verdict.failing)


def reproduced(verdict: Verdict, second: Verdict) -> Verdict:
    """A verdict of which only that is left to fail which is exact in a second one too, or a matter of cost."""
    costs = {finding.key for finding in verdict.failing if finding.kind not in EXACT}
    return _told(verdict, costs | _exact(second))


def only_exact(verdict: Verdict, why: Finding) -> Verdict:
    """A verdict of which only what is exact may fail; `why` stands for the costs that would have failed."""
    return _instead(verdict, _exact(verdict), [why] if verdict.fails_by_time else [])


def _unconfirmed(verdict: Verdict, calm: int, made: int) -> Verdict:
    """A verdict on too few rounds that compare with the baseline: what would fail by time is told, and is in doubt."""
    doubted = _not_confirmed(verdict, _suspected(verdict))
    if doubted:
        why = f"{calm} of {made} fresh processes had as much of the core as the baseline's, {FEWEST_ROUNDS} are needed"
        mend = "measure again while the machine is calm, or record the baseline anew"
        doubted.append(Finding(Kind.NOISE, CORE, "total", f"{why}: {mend}"))
    return _instead(verdict, set(), doubted)


def _suspected(verdict: Verdict) -> set[Key]:
    """The costs that would fail or may be noise."""
    return {one.key for one in verdict.findings if one.kind not in EXACT and (one.fails or one.kind is Kind.NOISE)}


def _not_confirmed(verdict: Verdict, suspected: set[Key]) -> list[Finding]:
    """What would fail by its cost, of what is suspected, as what is in doubt."""
    return [
        replace(one, kind=Kind.NOISE, message=f"{one.message}: not confirmed", fails=False)
        for one in verdict.failing
        if one.key in suspected
    ]


def _instead(verdict: Verdict, certain: set[Key], others: Sequence[Finding]) -> Verdict:
    """A verdict in which only what is `certain` fails, with other findings in the place of what does not."""
    left = _told(verdict, certain)
    findings = _ordered((*left.findings, *others))
    return replace(left, outcome=outcome_of(findings, cost_judged=left.cost_judged), findings=findings)


def _exact(verdict: Verdict) -> set[Key]:
    return {finding.key for finding in verdict.failing if finding.kind in EXACT}


def _told(verdict: Verdict, certain: set[Key]) -> Verdict:
    """A verdict in which only what is `certain` fails; what is not is left out."""
    ordered = _ordered(one for one in verdict.findings if not one.fails or one.key in certain)
    return replace(verdict, outcome=outcome_of(ordered, cost_judged=verdict.cost_judged), findings=ordered)


def _ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """What fails first; among that, exact facts before ratios, ratios before operators, the largest change first."""
    rank = {kind: index for index, kind in enumerate(Kind)}
    return tuple(sorted(findings, key=lambda f: (not f.fails, rank[f.kind], -abs(f.change))))
