"""What can be compared without noise: which operators run, how often, on what, and under which settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.facts import COMPARED
from pytest_opcost.families import ENGINE_WRAPPER, family_of, forward_of
from pytest_opcost.judge.facts import fact_findings, place_in_words
from pytest_opcost.judge.matching import SUPPORTING, matched
from pytest_opcost.judge.verdict import OTHER_WORK, Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from pytest_opcost.costs import CostProfile, OpCost

#: Families that do no work of their own: where others take other inputs too, theirs follow from that.
_FOLLOWING = frozenset({"view", "autograd", "query"})

#: Families that touch no data. How often they are called is told, and is no drift by itself: `reshape` for `view`.
_WEIGHTLESS = frozenset({"view", "query"})
_HOW_OFTEN = frozenset({Kind.NEW, Kind.GONE, Kind.CALLS, Kind.INPUTS})

#: The engine's own wrappers double each `...Backward0`; runtime calls (launches, lazy loading) are no operators.
_NO_OPERATORS = frozenset({"runtime", "wait"})


def exact_findings(old: CostProfile, new: CostProfile, facts: Sequence[str] = COMPARED) -> tuple[Finding, ...]:
    """Settings, backends, operators and their `facts` that differ; each fails, but for operators without weight.

    Operators and facts that vary from step to step are left out.
    """
    was, now = _calls(old), _calls(new)
    unsteady = {op.name for op in (*old.ops, *new.ops) if op.varying}
    changed = {name: (was.get(name), now.get(name)) for name in {**was, **now} if name not in unsteady}
    changed = {name: (one, two) for name, (one, two) in changed.items() if _count(one) != _count(two)}
    settings = tuple(_settings(old, new))
    backends = tuple(_backends(old, new, changed))
    explained = {name for _, names in backends for name in names}
    singles = [_single(name, *pair) for name, pair in changed.items() if name not in explained]
    # Of an operator that varies, and of one whose calls differ, nothing else can be said.
    singles += fact_findings(old, new, facts, unsteady | changed.keys())
    following = [finding for finding in singles if finding.kind is Kind.INPUTS and finding.family in _FOLLOWING]
    if len(following) < sum(finding.kind is Kind.INPUTS for finding in singles):
        singles = [finding for finding in singles if finding not in following]
    singles = [
        replace(one, fails=False) if one.kind in _HOW_OFTEN and _is_weightless(one.op, old, new) else one
        for one in singles
    ]
    singles.sort(key=lambda finding: (not finding.fails, finding.family in SUPPORTING, finding.kind is Kind.CALLS))
    return (*settings, *(finding for finding, _ in backends), *_autograd(old, new, changed), *singles)


def exactly_changed(findings: tuple[Finding, ...], old: CostProfile, new: CostProfile) -> set[str]:
    """The operators that `exact_findings` found changed, so that their times need not be compared."""
    if not findings:
        return set()
    was, now = _calls(old), _calls(new)
    other_work = {finding.op for finding in findings if finding.kind in OTHER_WORK}
    return other_work | {name for name in {**was, **now} if _count(was.get(name)) != _count(now.get(name))}


def _calls(profile: CostProfile) -> dict[str, OpCost]:
    return {
        op.name: op for op in profile.ops if op.family not in _NO_OPERATORS and not op.name.startswith(ENGINE_WRAPPER)
    }


def _count(op: OpCost | None) -> int:
    return op.calls if op is not None else 0


def _settings(old: CostProfile, new: CostProfile) -> Iterator[Finding]:
    was, now = dict(old.environment.settings), dict(new.environment.settings)
    for name in sorted(was.keys() & now.keys()):
        if was[name] != now[name]:
            message = f"the setting {name} is {now[name]} (was {was[name]})"
            yield Finding(Kind.SETTING, name, "setting", message, fails=True)


def _backends(old: CostProfile, new: CostProfile, changed: Collection[str]) -> Iterator[tuple[Finding, set[str]]]:
    """One finding for each group of operators in which new ones took the place of others, with all that it explains."""
    was = old.by_name()
    for group in matched(old, new):
        fewer = [op.name for op in group.old if op.name in changed and op.calls > _count(new.by_name().get(op.name))]
        more = [op.name for op in group.new if op.name in changed and op.name not in was]
        if fewer and more:
            message = f"{group.family} now runs as {', '.join(more)} (was {', '.join(fewer)})"
            yield Finding(Kind.BACKEND, more[0], group.family, message, fails=True), {*fewer, *more}


def _autograd(old: CostProfile, new: CostProfile, changed: Collection[str]) -> Iterator[Finding]:
    """That autograd makes nodes where it made none, or more of them though every operator is called as often."""
    was, now = old.autograd_nodes, new.autograd_nodes
    if was is None or now is None or was == now or (changed and bool(was) == bool(now)):
        return
    message = f"autograd makes {_times(now, 'node')} a step (was {was})"
    yield Finding(Kind.AUTOGRAD, "autograd", "autograd", message, float(was), float(now), fails=True)


def _is_weightless(name: str, *profiles: CostProfile) -> bool:
    """Whether an operator only looks at memory otherwise, or asks about it, and so does its autograd node."""
    rows = [row for profile in profiles if (row := profile.by_name().get(name)) is not None]
    if any(row.facts and (row.facts.alloc_bytes or row.facts.kernels or row.facts.syncs) for row in rows):
        return False
    return family_of(forward_of(name)) in _WEIGHTLESS


def _single(name: str, one: OpCost | None, two: OpCost | None) -> Finding:
    family = (one or two).family  # type: ignore[union-attr]
    was, now = _count(one), _count(two)
    if one is None:
        kind, message = Kind.NEW, f"{name} ({family}) is new: {_times(now)} a step (was 0)"
    elif two is None:
        kind, message = Kind.GONE, f"{name} ({family}) is gone: 0 calls a step (was {was})"
    else:
        kind, message = Kind.CALLS, f"{name} ({family}) is called {_times(now, 'time')} a step (was {was})"
    message += place_in_words(two or one)  # type: ignore[arg-type]
    return Finding(kind, name, family, message, float(was), float(now), fails=True)


def _times(count: int, word: str = "call") -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
