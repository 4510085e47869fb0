"""Changes of costs and ratios -> findings: what fails, what is cheaper, what cannot be told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_opcost.costs import CostProfile, Environment, ratio_forms
from pytest_opcost.families import DEFAULT_RATIO
from pytest_opcost.judge.figures import microseconds, signed, unsigned
from pytest_opcost.judge.verdict import CORE, Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_opcost.judge.reference import Reference, Rules
    from pytest_opcost.judge.timing.change import Change, Changes

#: A machine that is slower or faster by this much as a whole is told.
MACHINE = 0.05


def cost_findings(
    reference: Reference,
    new: CostProfile,
    compared: Changes,
    critical: float,
    suspicious: float,
    rules: Rules,
) -> tuple[Finding, ...]:
    """Ratios and operators that changed by more than `critical` standard errors beyond what is worth telling, those
    that may have (`suspicious`), and a machine that is slower or faster as a whole.
    """
    findings: list[Finding] = []
    for change in compared:
        if change.score > critical:
            findings.append(_moved(change, reference, new, compared.factor, cheaper_fails=rules.cheaper_fails))
        elif change.score > suspicious:
            findings.append(_noise(change, critical))
    failing = any(finding.fails for finding in findings)
    if findings and (words := _other_card(reference.profile.environment, new.environment, failing=failing)):
        findings.append(Finding(Kind.MACHINE, CORE, "total", words))
    if abs(math.log(compared.factor)) > math.log1p(MACHINE):
        factor = compared.factor
        word = "dearer" if factor > 1 else "cheaper"
        message = f"all operators alike are {unsigned(factor - 1)} {word}: the machine changed, not an operator"
        findings.append(Finding(Kind.MACHINE, "all operators", "total", message, 1.0, factor, factor - 1))
    return (*_missing_ratios(reference, new, rules.ratios), *findings)


def _other_card(old: Environment, new: Environment, *, failing: bool) -> str:
    """What is to be said of costs that moved from one card to another of its model; nothing where none is known."""
    if old.card == new.card or None in (old.card, new.card):
        return ""
    mend = "--opcost-base measures both sides on one" if failing else "--opcost-add-rounds adds this one's rounds"
    return f"another card made the baseline ({old.card}, this one is {new.card}), and cards of a model differ: {mend}"


def _moved(change: Change, reference: Reference, new: CostProfile, factor: float, *, cheaper_fails: bool) -> Finding:
    raw = change.now / change.before - 1
    if change.family == "ratio":
        message = f"{_figures(change)}: {_side(change.op, reference.profile, new, factor)}"
        return _finding(Kind.RATIO, change, message, raw, fails=True)
    message = f"{_figures(change)}{_beyond(change)}"
    if change.by > 0:
        return _finding(Kind.DEARER, change, message, raw, fails=True)
    message += f": cheaper than the {'base' if reference.paired else 'baseline'}"
    return _finding(Kind.CHEAPER, change, message, raw, fails=cheaper_fails)


def _noise(change: Change, critical: float) -> Finding:
    limit = change.band(critical)
    what = (
        f"a change above {unsigned(limit)}" if change.by > 0 else f"a fall by {unsigned(1 - 1 / (1 + limit))} or more"
    )
    message = f"{_figures(change)}{_beyond(change)}: may be noise, only {what} is certain"
    return _finding(Kind.NOISE, change, message, change.now / change.before - 1, fails=False)


def _finding(kind: Kind, change: Change, message: str, raw: float, *, fails: bool) -> Finding:
    return Finding(kind, change.op, change.family, message, change.before, change.now, raw, fails=fails)


def _beyond(change: Change) -> str:
    """What an operator's change is beyond the machine's, where that is another figure."""
    own, raw = math.expm1(change.by), change.now / change.before - 1
    if change.family == "ratio" or abs(own - raw) < 0.005:
        return ""
    return f", {signed(own)} beyond what the machine explains"


def _figures(change: Change) -> str:
    moved = signed(change.now / change.before - 1)
    if change.family == "ratio":
        return f"{change.op}: {change.now:.3g}, was {change.before:.3g} ({moved})"
    name = "all other operators" if change.op == change.family else f"{change.op} ({change.family})"
    return f"{name}: {microseconds(change.now)} a step, was {microseconds(change.before)} ({moved})"


def _missing_ratios(reference: Reference, new: CostProfile, ratios: Mapping[str, float | None]) -> Iterator[Finding]:
    """Ratios that were declared and that only one of the two sides has."""
    recorded = reference.ratios
    for declared in ratios:
        for form in ratio_forms(new, (declared,)):
            now = new.ratio(form)
            stored = reference.profile.ratio(form) if recorded is None else recorded.get(form)
            if declared != DEFAULT_RATIO and (now is None) != (stored is None):
                side = "the baseline" if stored is None else "this step"
                message = f"{form}: not judged, it is not in {side}; record it with --opcost-update-baselines"
                yield Finding(Kind.UNKNOWN, form, "ratio", message, stored, now)


def _side(form: str, old: CostProfile, new: CostProfile, factor: float) -> str:
    """Which side of a ratio moved, in words: the one whose change, less the common factor, is the larger by far."""
    pair, _, phase = form.partition(" ")
    sides = pair.split("/")
    before, after = ([profile.side_us(name, forward_only=phase != "") for name in sides] for profile in (old, new))
    own = [math.log(two / one / factor) if one > 0 and two > 0 else 0.0 for one, two in zip(before, after)]
    order = sorted(range(2), key=lambda side: -abs(own[side]))
    words = [
        f"{sides[i]} {microseconds(before[i])} -> {microseconds(after[i])}"
        + (f" ({signed(after[i] / before[i] - 1)})" if before[i] > 0 else "")
        for i in order
    ]
    if abs(own[order[1]]) > abs(own[order[0]]) / 2:
        return f"both sides moved, {words[0]} and {words[1]}"
    return f"{sides[order[0]]} moved, {words[0]}; {words[1]}"
