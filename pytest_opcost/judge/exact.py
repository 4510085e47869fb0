"""What can be compared without noise: which operators run, how often, on what, and under which settings."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_opcost.facts import COMPARED
from pytest_opcost.families import ENGINE_WRAPPER
from pytest_opcost.judge.facts import fact_findings, place_in_words
from pytest_opcost.judge.verdict import Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.costs import CostProfile, OpCost

#: Families whose operators only prepare or follow others: named last, and never "the backend".
_SUPPORTING = frozenset({"view", "allocate", "autograd", "fill", "query"})

#: Families that do no work of their own: where others take other inputs too, theirs follow from that.
_FOLLOWING = frozenset({"view", "autograd", "query"})

#: Facts by which an operator does other work than before, so that its times do not compare.
_OTHER_WORK = frozenset({Kind.INPUTS, Kind.FLOPS, Kind.KERNELS})

#: The engine's own wrappers double each `...Backward0`; runtime calls (launches, lazy loading) are no operators.
_NO_OPERATORS = frozenset({"runtime", "wait"})


def exact_findings(old: CostProfile, new: CostProfile, facts: Sequence[str] = COMPARED) -> tuple[Finding, ...]:
    """Settings, backends, operators and their `facts` that differ; each fails.

    Operators and facts that vary from step to step are left out.
    """
    was, now = _calls(old), _calls(new)
    unsteady = {op.name for op in (*old.ops, *new.ops) if op.varying}
    changed = {name: (was.get(name), now.get(name)) for name in {**was, **now} if name not in unsteady}
    changed = {name: (one, two) for name, (one, two) in changed.items() if _count(one) != _count(two)}
    settings = tuple(_settings(old, new))
    backends = tuple(_backends(changed))
    explained = {name for _, names in backends for name in names}
    singles = [_single(name, *pair) for name, pair in changed.items() if name not in explained]
    # Of an operator that varies, and of one whose calls differ, nothing else can be said.
    singles += fact_findings(old, new, facts, unsteady | changed.keys())
    following = [finding for finding in singles if finding.kind is Kind.INPUTS and finding.family in _FOLLOWING]
    if len(following) < sum(finding.kind is Kind.INPUTS for finding in singles):
        singles = [finding for finding in singles if finding not in following]
    singles.sort(key=lambda finding: (finding.family in _SUPPORTING, finding.kind is Kind.CALLS))
    return (*settings, *(finding for finding, _ in backends), *singles)


def exactly_changed(findings: tuple[Finding, ...], old: CostProfile, new: CostProfile) -> set[str]:
    """The operators that `exact_findings` found changed, so that their times need not be compared."""
    if not findings:
        return set()
    was, now = _calls(old), _calls(new)
    other_work = {finding.op for finding in findings if finding.kind in _OTHER_WORK}
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


def _backends(changed: dict[str, tuple[OpCost | None, OpCost | None]]) -> Iterator[tuple[Finding, set[str]]]:
    """One finding a family in which some operators took the place of others, with the operators that it explains."""
    fewer, more = defaultdict(list), defaultdict(list)
    for name, (one, two) in changed.items():
        family = (one or two).family  # type: ignore[union-attr]
        if family in _SUPPORTING:
            continue
        if _count(one) > _count(two):
            fewer[family].append(name)
        elif one is None:
            more[family].append(name)
    for family in fewer.keys() & more.keys():
        message = f"{family} now runs as {', '.join(more[family])} (was {', '.join(fewer[family])})"
        finding = Finding(Kind.BACKEND, more[family][0], family, message, fails=True)
        yield finding, {*fewer[family], *more[family]}


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
