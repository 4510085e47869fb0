"""Two or three sentences on a test's configurations, computed from its figures: each would be false with others."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_opcost.report.quantities import digits, time_text, times_text
from pytest_opcost.report.shares import dearest_families, family_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.report.grouping import Group
    from pytest_opcost.results import CheckResult

#: An operator dominates from this share of a step on.
DOMINANT = 0.25
#: A ratio that varies by less than this between batch sizes does not depend on them.
STEADY = 0.05
#: What shares are parts of: the operators' self times on the clock that counts.
_WHOLE = {"device": "kernel time", "host": "operators' time"}
#: What autograd and the device's runtime do around the operators that a step calls.
_NOT_CALLED = frozenset({"runtime", "autograd", "wait"})
#: From this part of a step on its operators are all of it; the rest is within what measuring adds.
FULL = 0.9
#: A device that is busy for less than this of a step mostly waits.
WAITS = 0.5
#: The families that are named take this much of a step together; more would be a table.
MOST_OF_IT = 0.6
_MOST_FAMILIES = 4
_MOST_VALUES = 3


def sentences(group: Group) -> tuple[str, ...]:
    """What a reader should take home: which operator dominates, how the first ratio moves with batch size, where the
    time goes at the smallest batch, for each device; and how devices compare.
    """
    devices = group.devices
    told = []
    for device, members in devices.items():
        start = f"On {device}, " if len(devices) > 1 else ""
        parts = (dominance(members), course_of_ratio(members), smallest_batch(members))
        told += [f"{start}{sentence}" if start else _capital(sentence) for sentence in parts if sentence]
    return (*told, *(_capital(sentence) for sentence in devices_apart(devices)))


def dominance(members: Sequence[CheckResult]) -> str:
    """Which operator takes the largest share, at which batch size."""
    tops = [(one, one.profile.top(2)[0]) for one in members]
    tops = [(one, top) for one, top in tops if top and top[0].share > 0]
    if not tops:
        return ""
    names = list(dict.fromkeys(top[0].name for _, top in tops))
    whole = _WHOLE[tops[0][0].profile.clock]
    weak = all(top[0].share < DOMINANT for _, top in tops)
    if len(tops) == 1:
        ((_, top),) = tops
        lead = f", {times_text(top[0].share / top[1].share)} the next, {top[1].name}" if top[1:] else ""
        if weak:
            return (
                f"no operator dominates: the dearest, {top[0].name}, takes {_part(top[0].share)} of the {whole}{lead}."
            )
        return f"{top[0].name} is the dearest operator with {_part(top[0].share)} of the {whole}{lead}."
    weakly = "no operator dominates: " if weak else ""
    if len(names) == 1:
        shares = _course([(_part(top[0].share), one) for one, top in tops])
        return f"{weakly}{names[0]} is the dearest operator in every configuration: of the {whole} it takes {shares}."
    runs = [(name, [(one, top) for one, top in tops if top[0].name == name]) for name in names]
    told = _listed(f"{name} with {_course([(_part(top[0].share), one) for one, top in run])}" for name, run in runs)
    return f"{weakly}by {whole} the dearest operator depends on the batch size: {told}."


def course_of_ratio(members: Sequence[CheckResult]) -> str:
    """How the first declared ratio moves as batches grow, which side makes it move, and where it crosses 1."""
    form = next((form for one in members for form in one.ratios), None)
    points = [one for one in members if one.subject.batch_size and form in one.ratios]
    if form is None or len({one.subject.batch_size for one in points}) < 2:
        return ""
    values = [one.ratios[form] for one in points]
    first, last = points[0], points[-1]
    if max(values) / min(values) - 1 < STEADY:
        between = f"{_batch(first)} and {last.subject.batch_size}"
        return f"{form} hardly depends on batch size: {digits(min(values))} to {digits(max(values))} between {between}."
    course = _course([(digits(value), one) for one, value in zip(points, values)])
    steps = [after - before for before, after in pairwise(values)]
    if min(steps) < 0 < max(steps):
        turns = _listed([f"{digits(value)} at {_batch(one)}" for one, value in zip(points, values)])
        return f"{form} does not move one way as batches grow: {turns}."
    above, below = form.partition(" ")[0].split("/")
    grown = [
        last.profile.side_us(side, forward_only=" " in form) / first.profile.side_us(side, forward_only=" " in form)
        for side in (above, below)
    ]
    why = f"{above} costs {times_text(grown[0])} as much at {_batch(last)} as at {_batch(first)}"
    why += f", {below} {times_text(grown[1])}{_crossing(form, points)}"
    return f"{form} {'rises' if max(steps) > 0 else 'falls'} with batch size, {course}: {why}."


def _crossing(form: str, points: Sequence[CheckResult]) -> str:
    """From which batch size on the other side of the ratio is the dearer one, if that changes."""
    above, below = form.partition(" ")[0].split("/")
    for before, after in pairwise(points):
        if (before.ratios[form] > 1) != (after.ratios[form] > 1):
            where = f"at {_batch(after)}" if after is points[-1] else f"from {_batch(after)} on"
            return f"; {where} {above if after.ratios[form] > 1 else below} is the dearer side"
    return ""


def smallest_batch(members: Sequence[CheckResult]) -> str:
    """Where the time goes at the smallest batch, how much of it is idle, and what a sample costs beside a large one."""
    batches = [one for one in members if one.subject.batch_size]
    if not batches:
        return ""
    small, large = batches[0], batches[-1]
    profile, named, sum_ = small.profile, [], 0.0
    for family in dearest_families([small])[:_MOST_FAMILIES]:
        if sum_ >= MOST_OF_IT:
            break
        share = family_share(small, family)
        sum_ += share
        named.append(f"{family} ({_part(share)})")
    if not sum_:
        return ""
    told = f"at {_batch(small)} the {_WHOLE[profile.clock]} goes to {_listed(named)}{_filled(profile)}"
    if large is not small:
        each = [one.profile.wall_us / (one.subject.batch_size or 1) for one in (small, large)]
        factor = each[0] / each[1] if each[1] > 0 else 1.0
        told += f". A sample takes {_factor(factor)} as long there as at {_batch(large)}: {time_text(each[0])}"
        told += f" against {time_text(each[1])}"
    return f"{told}."


def _filled(profile: CostProfile) -> str:
    """How much of the step's own time is in its operators, and what the rest is."""
    if profile.wall_us <= 0:
        return ""
    filled = profile.total_us / profile.wall_us
    of_the_step = f"of the step's {time_text(profile.wall_us)}"
    if profile.clock == "device":
        calls = sum(op.calls for op in profile.ops if op.family not in _NOT_CALLED)
        rest = f", for the rest it waits for the host and its {calls:,} operator calls" if filled < WAITS else ""
        return f"; the device is busy for {_part(min(filled, 1.0))} {of_the_step}{rest}"
    if filled >= FULL:
        return ""
    return f"; operators fill {_part(filled)} {of_the_step}, the rest is in none"


def _factor(factor: float) -> str:
    if 1 / (1 + STEADY) < factor < 1 + STEADY:
        return "just"
    return times_text(factor)


def devices_apart(devices: dict[str, tuple[CheckResult, ...]]) -> Iterator[str]:
    """How much faster one device runs the same step than another, at the smallest and the largest batch they share."""
    first, *others = devices
    for other in others:
        pairs = [
            (one, two)
            for one in devices[first]
            for two in devices[other]
            if one.subject.batch_size == two.subject.batch_size and min(one.profile.wall_us, two.profile.wall_us) > 0
        ]
        told = []
        for one, two in pairs if len(pairs) < 2 else (pairs[0], pairs[-1]):
            factor = one.profile.wall_us / two.profile.wall_us
            word = f"{times_text(max(factor, 1 / factor))} {'faster' if factor > 1 else 'slower'}"
            told.append(word if one.subject.batch_size is None else f"{word} at {_batch(one)}")
        if told:
            yield f"a step on {other} is {_listed(told)} than on {first}."


def _batch(result: CheckResult) -> str:
    size = result.subject.batch_size
    return result.subject.device if size is None else f"batch {size}"


def _part(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.095 else f"{100 * share:.1f} %"


def _course(values: Sequence[tuple[str, CheckResult]]) -> str:
    """Values at their batch sizes, all of a few, the ends of many."""
    told = [f"{value} at {_batch(one)}" for value, one in values]
    return f"{told[0]} to {told[-1]}" if len(told) > _MOST_VALUES else _listed(told)


def _listed(parts: Iterator[str] | Sequence[str]) -> str:
    *before, last = parts
    return f"{', '.join(before)} and {last}" if before else last


def _capital(sentence: str) -> str:
    # An operator's name stays as it is.
    return (
        sentence
        if "::" in sentence.split(" ")[0] or "/" in sentence.split(" ")[0]
        else sentence[0].upper() + sentence[1:]
    )
