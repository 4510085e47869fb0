"""Findings of one or several measurements -> the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_opcost.costs import CostProfile, RecordedRatio, quiet_ones
from pytest_opcost.judge.cost import Rules, cost_findings, machine_factor
from pytest_opcost.judge.exact import exact_findings, exactly_changed
from pytest_opcost.judge.facts import ANYWHERE, SAME_CAPABILITY
from pytest_opcost.judge.verdict import EXACT, Finding, Kind, Verdict, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

#: A profile and what was said of it.
Measurement: TypeAlias = tuple[CostProfile, Verdict]
Key: TypeAlias = tuple[Kind | None, str, bool]

#: Measurements whose totals lie this close together were made on a machine in the same state.
AS_QUIET = 0.10


def judge(old: CostProfile, recorded: Mapping[str, RecordedRatio], new: CostProfile, rules: Rules) -> Verdict:
    """One measurement against the baseline of this machine: exact facts first, then ratios, then operators."""
    exact, factor = exact_findings(old, new), machine_factor(old, new)
    cost = cost_findings(old, recorded, new, rules, factor, exactly_changed(exact, old, new))
    findings = _ordered((*exact, *cost))
    return Verdict(outcome_of(findings), findings, factor)


def judge_elsewhere(old: CostProfile, new: CostProfile) -> Verdict:
    """One measurement against another machine's baseline: exact facts only, since costs belong to their machine.

    Kernels are compared where the instruction set or compute capability is the same, since it decides which there are.
    """
    alike = old.environment.capability == new.environment.capability
    findings = exact_findings(old, new, SAME_CAPABILITY if alike else ANYWHERE)
    return Verdict(outcome_of(findings, cost_judged=False), findings, cost_judged=False)


def confirmed(first: Measurement, again: Callable[[], Measurement], most: int) -> Measurement:
    """Measure again while the first impression needs it, up to `most` times, and judge all measurements together.

    Slow spells of the machine are left out: the verdict is that of the quietest measurement, and what it shows fails
    only if all others as quiet show it too, and there is at least one such. An exact change does not depend on quiet:
    it is certain once it was reproduced. The profile returned is the quietest one.
    """
    measured = [first]
    while len(measured) <= most and _is_open(measured):
        measured.append(again())
    profile, verdict = _quietest(measured)
    certain = _persisting(measured)
    findings = []
    for finding in verdict.findings:
        witnesses = measured if finding.kind in EXACT else _quiet(measured)
        if not finding.fails or (finding.key in certain and (len(witnesses) > 1 or not most)):
            findings.append(finding)
        elif finding.key in certain or sum(finding.key in _shown(one) for _, one in measured) > 1:
            message = f"{finding.message}; not confirmed: the machine is not steady enough"
            findings.append(replace(finding, kind=Kind.NOISE, message=message, fails=False))
    ordered = _ordered(findings)
    outcome = outcome_of(ordered, cost_judged=verdict.cost_judged)
    return profile, replace(verdict, outcome=outcome, findings=ordered, measurements=len(measured))


def _is_open(measured: Sequence[Measurement]) -> bool:
    """Whether another measurement could change the verdict: something fails, or could not be told for noise."""
    _, verdict = _quietest(measured)
    failing = {finding.key for finding in verdict.failing} & _persisting(measured)
    if failing and all(kind in EXACT for kind, _, _ in failing) and len(measured) > 1:
        return False
    return bool(failing) or any(finding.kind is Kind.NOISE and finding.change for finding in verdict.findings)


def _persisting(measured: Sequence[Measurement]) -> set[Key]:
    """What all measurements show: exact facts in every one, timings in those that were as quiet as the quietest."""
    exact = [{key for key in _shown(verdict) if key[0] in EXACT} for _, verdict in measured]
    timed = [{key for key in _shown(verdict) if key[0] not in EXACT} for _, verdict in _quiet(measured)]
    return set.intersection(*exact) | set.intersection(*timed)


def _shown(verdict: Verdict) -> set[Key]:
    """What a measurement shows, told aloud or drowned in noise alike."""
    return {finding.key for finding in verdict.findings if finding.fails or finding.kind is Kind.NOISE}


def _quietest(measured: Sequence[Measurement]) -> Measurement:
    return min(measured, key=lambda pair: pair[0].total_us)


def _quiet(measured: Sequence[Measurement]) -> list[Measurement]:
    quiet = quiet_ones([profile for profile, _ in measured], AS_QUIET)
    return [pair for pair in measured if pair[0] in quiet]


def _ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """What fails first; among that, exact facts before ratios, ratios before operators, the largest change first."""
    rank = {kind: index for index, kind in enumerate(Kind)}
    return tuple(sorted(findings, key=lambda f: (not f.fails, rank[f.kind], -abs(f.change))))
