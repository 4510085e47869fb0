"""What can only be compared up to noise: declared ratios, and every operator that matters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from pytest_opcost.costs import CostProfile, OpCost, RecordedRatio, ratio_forms
from pytest_opcost.families import DEFAULT_RATIO, is_memory_bound
from pytest_opcost.judge.verdict import Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: An operator is judged from this share of the step on, in the baseline or now.
SHARE_FLOOR = 0.02
#: How much dearer an operator may get unless the user says otherwise. Host: convolutions and matrix products differ by
#: 2 to 10 % between processes, what streams through memory by up to 32 %, since all guests of a host share its memory
#: (measured, a shared 2-core machine). Device: cards of one model differ by up to 5.5 % in operators below 35 us.
HOST_TOLERANCE, MEMORY_BOUND_TOLERANCE, DEVICE_TOLERANCE = 0.20, 0.50, 0.05
#: A change must also weigh this much of the whole step, or be this many microseconds, to be one at all.
STEP_FLOOR, HOST_FLOOR_US, DEVICE_FLOOR_US = 0.005, 5.0, 0.5
#: Processes differ by where their memory lies, which no round in one process shows: on a CPU, changes of up to these
#: microseconds, or this part of a short step, are not told. Measured, fresh processes on a shared 2-core machine: addmm
#: of 89 us +30..40 us, max-pool of 71 us +25 us, of 16 us +13 us, gelu_backward of 41 us +21 us.
PROCESS_FLOOR_US, PROCESS_FLOOR_SHARE = 50.0, 0.08
#: The baseline's own rounds were taken in one process; processes differ by more than rounds do.
SPREADS = 2.0
#: With all other cores busy the tolerances are this much wider: shared caches, memory and clock cost host time.
LOADED = 3.0
#: A band as wide as this can tell nothing worth telling.
WIDEST = 1.0
#: The common factor of fewer operators than this would be one operator's own drift.
FEWEST_FOR_FACTOR = 4
#: A machine's slow spells cost up to this factor (measured, a shared 2-core machine: 1.6). Beyond it, it is the step
#: itself that changed, such as a model made four times as wide.
LARGEST_FACTOR = 1.6


@dataclass(frozen=True, slots=True)
class Bands:
    """How far a cost may move: `tight` on a machine just as the baseline's was, `wide` on the machine as it is now."""

    tight: float
    wide: float


@dataclass(frozen=True, slots=True)
class Rules:
    """What the user declared: ratios with their bands, and a tolerance for operators (None: the clock's default)."""

    ratios: Mapping[str, float]
    tolerance: float | None = None


def machine_factor(old: CostProfile, new: CostProfile) -> float:
    """How much dearer all operators alike are, as the machine's doing; 1.0 where they are not, or are too few to say.

    Two medians of new / old over the operators that matter must agree: that over operators, which one dear operator
    cannot sway, and that over their time, which many cheap ones cannot. The one closer to 1 is taken.
    """
    was = old.by_name()
    changes = sorted(
        (math.log(new.cost_us(op) / old.cost_us(was[op.name])), was[op.name].share)
        for op in new.ops
        if op.name in was and was[op.name].calls == op.calls and was[op.name].share >= SHARE_FLOOR / 2
        if min(new.cost_us(op), old.cost_us(was[op.name])) > 0
    )
    if len(changes) < FEWEST_FOR_FACTOR:
        return 1.0
    by_count = median(change for change, _ in changes)
    by_time = _weighted_median(changes)
    if by_count * by_time <= 0:
        return 1.0
    factor = math.exp(min(by_count, by_time, key=abs))
    return factor if 1 / LARGEST_FACTOR <= factor <= LARGEST_FACTOR else 1.0


def _weighted_median(pairs: Sequence[tuple[float, float]]) -> float:
    """The value, of sorted (value, weight) pairs, at which half of the weight is reached."""
    half, reached = sum(weight for _, weight in pairs) / 2, 0.0
    for value, weight in pairs:
        reached += weight
        if reached >= half:
            return value
    return 0.0


def cost_findings(
    old: CostProfile,
    recorded: Mapping[str, RecordedRatio],
    new: CostProfile,
    rules: Rules,
    factor: float,
    changed: set[str],
) -> tuple[Finding, ...]:
    """Ratios out of their band, operators dearer or cheaper than tolerated, what cannot be told, and a machine that is
    slower or faster as a whole, by `factor` (see `machine_factor`). Operators in `changed` differ exactly and are not
    compared by time.
    """
    findings = [*_ratios(old, recorded, new, rules, factor), *_operators(old, new, rules, factor, changed)]
    default = _default_tolerance(rules, old)
    if abs(math.log(factor)) > math.log1p(default) / 2:
        word = "dearer" if factor > 1 else "cheaper"
        message = f"all operators alike are {percent(factor - 1)} {word}: the machine changed, not an operator"
        findings.append(Finding(Kind.MACHINE, "all operators", "total", message, 1.0, factor, factor - 1))
    return tuple(findings)


def _operators(old: CostProfile, new: CostProfile, rules: Rules, factor: float, changed: set[str]) -> Iterator[Finding]:
    was = old.by_name()
    for op in new.ops:
        before = was.get(op.name)
        if before is None or op.name in changed or max(op.share, before.share) < SHARE_FLOOR:
            continue
        yield from _operator(before, op, old, new, rules, factor)


def _operator(
    before: OpCost, op: OpCost, old: CostProfile, new: CostProfile, rules: Rules, factor: float
) -> Iterator[Finding]:
    one, two = old.cost_us(before), new.cost_us(op)
    if one <= 0 or two <= 0:
        return
    tolerance = _default_tolerance(rules, old, op)
    bands = _bands(max(tolerance, SPREADS * before.spread), old, new, factor)
    if bands.tight > max(WIDEST, tolerance):
        message = (
            f"{op.name} ({op.family}): the baseline's own rounds differ by {percent(before.spread)}; "
            f"only a change above {percent(bands.tight)} would have been seen"
        )
        yield Finding(Kind.NOISE, op.name, op.family, message, one, two)
        return
    raw = two / one - 1
    figures = f"{op.name} ({op.family}): {microseconds(two)} a step, was {microseconds(one)} ({signed(raw)}"
    if not _weighs(two - one, old):
        return
    # Dearer means dearer in itself and dearer than its neighbours became: a slow machine is not an operator's drift,
    # and a fast one does not make the operator that stayed behind dearer.
    expected, floor = one * max(factor, 1.0), _process_floor(bands, old)
    limit = expected + max(expected * bands.wide, floor)
    if two > limit:
        message = f"{figures}, allowed {signed(limit / one - 1)})"
        yield Finding(Kind.DEARER, op.name, op.family, message, one, two, raw, fails=True)
    elif two > expected * (1 + bands.tight) and two - expected < floor:
        message = f"{figures}): processes differ by as much; only above {microseconds(limit)} would have been told"
        yield Finding(Kind.NOISE, op.name, op.family, message, one, two)
    elif two > expected * (1 + bands.tight):
        message = (
            f"{figures}): the machine is busier or slower; only above {percent(limit / one - 1)} would have been told"
        )
        yield Finding(Kind.NOISE, op.name, op.family, message, one, two, raw)
    elif max(raw, two / one / factor - 1) < -bands.wide / (1 + bands.wide):
        message = f"{figures}): cheaper than the baseline"
        yield Finding(Kind.CHEAPER, op.name, op.family, message, one, two, raw)


def _ratios(
    old: CostProfile, recorded: Mapping[str, RecordedRatio], new: CostProfile, rules: Rules, factor: float
) -> Iterator[Finding]:
    for ratio, band in rules.ratios.items():
        for form in ratio_forms(new, (ratio,)):
            now, stored = new.ratio(form), recorded.get(form)
            if now is None or stored is None:
                if ratio != DEFAULT_RATIO and (now is None) != (stored is None):
                    side = "the baseline" if stored is None else "this step"
                    message = f"{form}: not judged, it is not in {side}; record it with --opcost-update-baselines"
                    yield Finding(Kind.UNKNOWN, form, "ratio", message, stored.value if stored else None, now)
                continue
            # A file that was merged or edited by hand may disagree with itself: the ratio must fit both readings.
            rows = old.ratio(form) or stored.value
            expected = max((stored.value, rows), key=lambda was: abs(math.log(now / was)))
            bands = _bands(max(band, SPREADS * stored.spread), old, new, factor)
            off = math.expm1(abs(math.log(now / expected)))
            if off <= bands.tight:
                continue
            figures = f"{form}: {now:.3g}, was {expected:.3g} ({signed(now / expected - 1)}"
            # Processes explain only what the rows show too.
            explained = math.expm1(abs(math.log(now / rows))) > bands.tight
            if explained and _largest_shift(form, old, new, factor) < (floor := _process_floor(bands, old)):
                message = f"{figures}): processes differ by as much; a side must move by {microseconds(floor)}"
                yield Finding(Kind.NOISE, form, "ratio", message, expected, now)
            elif off > bands.wide:
                message = f"{figures}, band {percent(bands.wide)}): {_moved(form, old, new, factor)}"
                yield Finding(Kind.RATIO, form, "ratio", message, expected, now, now / expected - 1, fails=True)
            else:
                message = f"{figures}): the machine is busier or slower; only above {percent(bands.wide)} is told"
                yield Finding(Kind.NOISE, form, "ratio", message, expected, now, now / expected - 1)


def _sides(form: str, old: CostProfile, new: CostProfile) -> tuple[list[str], list[float], list[float]]:
    """The names of a ratio's two sides, and what each cost before and costs now, in microseconds."""
    pair, _, phase = form.partition(" ")
    names = pair.split("/")
    before, after = ([profile.side_us(name, forward_only=phase != "") for name in names] for profile in (old, new))
    return names, before, after


def _largest_shift(form: str, old: CostProfile, new: CostProfile, factor: float) -> float:
    """By how many microseconds a ratio's sides moved by themselves, the common factor taken out: the larger of them.

    Infinite where the baseline's rows do not tell, since they were merged or edited by hand.
    """
    _, before, after = _sides(form, old, new)
    if min(before) <= 0:
        return math.inf
    return max(abs(two - one * factor) for one, two in zip(before, after))


def _moved(form: str, old: CostProfile, new: CostProfile, factor: float) -> str:
    """Which side of a ratio moved, in words: the one whose change, less the common factor, is the larger by far."""
    sides, before, after = _sides(form, old, new)
    shifts = [math.log(two / one / factor) if one > 0 and two > 0 else 0.0 for one, two in zip(before, after)]
    order = sorted(range(2), key=lambda side: -abs(shifts[side]))
    words = [
        f"{sides[i]} {microseconds(before[i])} -> {microseconds(after[i])}"
        + (f" ({signed(after[i] / before[i] - 1)})" if before[i] > 0 else "")
        for i in order
    ]
    if abs(shifts[order[1]]) > abs(shifts[order[0]]) / 2:
        return f"both sides moved, {words[0]} and {words[1]}"
    return f"{sides[order[0]]} moved, {words[0]}; {words[1]}"


def _default_tolerance(rules: Rules, profile: CostProfile, op: OpCost | None = None) -> float:
    if rules.tolerance is not None:
        return rules.tolerance
    if profile.clock == "device":
        return DEVICE_TOLERANCE
    return MEMORY_BOUND_TOLERANCE if op is not None and is_memory_bound(op.name) else HOST_TOLERANCE


def _bands(tight: float, old: CostProfile, new: CostProfile, factor: float) -> Bands:
    """The bands on this machine as it is now.

    A device's own clock does not notice what the host is busy with. On a machine that is slower or faster as a whole,
    two kinds of work do not change alike: what they may differ by grows with the common factor.
    """
    load = abs(new.load - old.load) if old.clock == "host" else 0.0
    return Bands(tight, (1 + tight * (1 + (LOADED - 1) * load)) * math.exp(abs(math.log(factor))) - 1)


def _process_floor(bands: Bands, old: CostProfile) -> float:
    """What processes may differ by, in microseconds, as much wider as the bands are; nothing on a device's clock."""
    if old.clock == "device":
        return 0.0
    return min(PROCESS_FLOOR_US, PROCESS_FLOOR_SHARE * old.total_us) * (
        bands.wide / bands.tight if bands.tight else 1.0
    )


def _weighs(difference_us: float, old: CostProfile) -> bool:
    floor = DEVICE_FLOOR_US if old.clock == "device" else HOST_FLOOR_US
    return abs(difference_us) >= max(floor, STEP_FLOOR * old.total_us)


def percent(fraction: float) -> str:
    """A relative change as it is read: `12 %`, `0.4 %`; without its sign."""
    value = abs(100 * fraction)
    return f"{value:.0f} %" if value >= 10 else f"{value:.1f} %"


def signed(fraction: float) -> str:
    """A relative change with its sign."""
    return f"{'-' if fraction < 0 else '+'}{percent(fraction)}"


def microseconds(value: float) -> str:
    """A time as it is read: `1,234 us`, `12.3 us`."""
    return f"{value:,.0f} us" if value >= 100 else f"{value:.3g} us"
