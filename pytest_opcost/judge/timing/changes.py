"""By how much every operator's cost, and every declared ratio, changed beyond what noise and the machine explain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.costs import CostProfile, ratio_forms
from pytest_opcost.families import is_memory_bound
from pytest_opcost.judge.disturbed import SAME_LOAD, SAME_PACE, slower
from pytest_opcost.judge.timing import noise
from pytest_opcost.judge.timing.groups import OTHER, costs, judged, logs
from pytest_opcost.judge.timing.machine import FEWEST_FOR_FACTOR, machine_factor
from pytest_opcost.judge.timing.shift import Shift, shifts
from pytest_opcost.merging import as_one

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_opcost.judge.reference import Reference, Rules
    from pytest_opcost.judge.timing.groups import Groups
    from pytest_opcost.judge.timing.noise import Matrix, Prior

#: The least change worth telling, unless the user says otherwise: a part of the cost, and microseconds a step.
HOST_EFFECT, DEVICE_EFFECT = 0.01, 0.003
HOST_FLOOR_US, DEVICE_FLOOR_US = 2.0, 0.1
#: What is too cheap to be judged by itself must together move by this much of the whole step.
STEP_FLOOR = 0.005
#: On a machine that is slower as a whole, two kinds of work differ by this part of what they have in common.
UNLIKE = 0.25
#: What is within this of 1 is left to what is known of operators' common noise.
STEADY = 0.03
#: No common noise moves most operators this far.
BEYOND_NOISE = 0.1
#: What a core's neighbours do, with all other cores busy: a standard deviation.
LOADED = 0.015
#: What waiting for a core does, for each tenth of the time that the thread waited.
WAITING = 0.3
#: Families whose time is as noisy as that of products, and of memory, whatever else they do.
_PRODUCTS, _STREAMING = frozenset({"addmm", "attention"}), frozenset({"pool", "random"})
#: Those that compute more than they read, on a device.
_COMPUTING = _PRODUCTS | {"conv"}


@dataclass(frozen=True, slots=True)
class Change:
    """One figure's change: an operator's cost or a ratio, before and now.

    `by` is the log of the change beyond what the machine explains, `error` its standard error, `least` the log of the
    least change that is worth telling.
    """

    op: str
    family: str
    before: float
    now: float
    by: float
    error: float
    least: float
    share: float

    @property
    def score(self) -> float:
        """How many standard errors the change lies beyond the least one, in either direction; less than 0 within it."""
        return (abs(self.by) - self.least) / self.error

    def seen_from(self, score: float) -> float:
        """The smallest relative change that would have reached this score 99 times in 100."""
        return math.expm1(self.least + (score + _NINETY_NINE) * self.error)


#: The 99 % quantile of the normal distribution.
_NINETY_NINE = 2.326


@dataclass(frozen=True, slots=True)
class Changes:
    """All that was compared; `factor` is what the machine made of everything, `degrees` are those behind the errors,
    `now` the rounds as one.
    """

    operators: tuple[Change, ...]
    ratios: tuple[Change, ...]
    factor: float
    degrees: int
    now: CostProfile

    def __iter__(self) -> Iterator[Change]:
        yield from self.ratios
        yield from self.operators


def changes(reference: Reference, rounds: Sequence[CostProfile], rules: Rules, changed: set[str]) -> Changes:
    """How each operator above its share floor, the rest together, and each ratio changed.

    Operators in `changed` do other work than before: their times do not compare.
    """
    old, new = reference.profile, as_one(rounds)
    groups = judged(old, new, rounds, changed)
    if not groups:
        return Changes((), (), 1.0, 0, new)
    names, factor = list(groups), machine_factor(old, new)
    forms = {form: _weights(old, form) for declared in rules.ratios for form in ratio_forms(new, (declared,))}
    # What is known of one figure does not depend on which others are asked for with it.
    every = groups | {name: [name] for weights in forms.values() for name in weights}
    all_moved, all_covariance, degrees = _moved(reference, rounds, new, every, factor)
    moved, covariance = all_moved[: len(names)], all_covariance[: len(names), : len(names)]
    # What operators do together is known up to a few per cent; beyond, it is taken out as it is.
    together = math.copysign(max(abs(math.log(factor)) - STEADY, 0.0), math.log(factor))
    moved = moved - together
    # The common noise of a few operators cannot be told from the drift of one; nor is it common noise what most of them
    # did together so far beyond what a machine does, such as a model made four times as wide.
    few = len(names) < FEWEST_FOR_FACTOR or (factor == 1 and abs(np.median(moved)) > BEYOND_NOISE)
    own = _alone(moved, covariance) if few else shifts(moved, covariance)
    table = costs(old, groups), costs(new, groups)
    operators = tuple(
        Change(
            op=name,
            family=_family(old, new, name),
            before=float(was),
            now=float(is_),
            by=shift.by,
            error=shift.error,
            least=_least(rules, old, name, float(min(was, is_))),
            share=max(float(was) / old.total_us, float(is_) / new.total_us),
        )
        for name, was, is_, shift in zip(names, *table, own)
    )
    known = dict(zip(every, range(len(every)))), all_moved, all_covariance
    ratios = tuple(_ratios(reference, rounds, new, rules, forms, known))
    return Changes(operators, ratios, factor, degrees, new)


def _moved(
    reference: Reference, rounds: Sequence[CostProfile], new: CostProfile, groups: Groups, factor: float
) -> tuple[Matrix, Matrix, int]:
    """By how much the logs of the groups' costs differ from what is expected, how such figures vary without any change,
    as a covariance, and the degrees of freedom behind that.
    """
    priors = [_prior(reference.profile, name) for name in groups]
    then, now = logs(reference, groups), np.log([costs(one, groups) for one in rounds])
    around = _circumstances(reference, new, groups, priors, factor)
    known = noise.expected(then, priors)
    covariance = known.covariance(len(now), same_session=reference.paired)
    if reference.paired and len(then) == 1 and len(then[0]) == len(now) > 1:
        pairs = noise.paired(now - then[0], costs(reference.profile, groups), priors)
        # What the sides of a pair do not share is as uncertain as it would be without pairs.
        apart = np.diag(np.where(pairs.unlike, np.diag(covariance), 0.0))
        covariance = apart + pairs.covariance * np.outer(~pairs.unlike, ~pairs.unlike)
        return pairs.moved, covariance + around, pairs.degrees
    return np.median(now, axis=0) - known.logs, covariance + around, known.degrees


def _prior(profile: CostProfile, name: str) -> Prior:
    family = OTHER if name == OTHER else profile.by_name()[name].family
    if profile.clock == "device":
        return noise.DEVICE_COMPUTING if family in _COMPUTING else noise.DEVICE_STREAMING
    if family == OTHER:
        return noise.POOLED
    if family in _PRODUCTS:
        return noise.PRODUCTS
    return noise.STREAMING if is_memory_bound(name) or family in _STREAMING else noise.COMPUTING


def _circumstances(
    reference: Reference, new: CostProfile, groups: Groups, priors: Sequence[Prior], factor: float
) -> Matrix:
    """What adds to the noise, as a covariance: another card, a machine busier or slower than the reference's."""
    old = reference.profile
    at = costs(old, groups)
    variance = np.full(len(groups), (UNLIKE * math.log(factor)) ** 2)
    if old.clock == "device" and _card(old) != _card(new):
        variance += [prior.other_card.of(cost) ** 2 for prior, cost in zip(priors, at)]
    if old.clock == "host":
        streaming = np.array([1.0 if prior is noise.COMPUTING else 2.0 for prior in priors])
        load = abs(new.load - old.load)
        variance += (LOADED * load * streaming) ** 2 + (WAITING * max(load - SAME_LOAD, 0.0)) ** 2
        # Each kind of work by its own part: 4 % to 60 % more where fixed code takes 37 % to 100 % more.
        variance += max(abs(slower(old, new)) - SAME_PACE, 0.0) ** 2
    more: Matrix = np.diag(variance)
    return more


def _card(profile: CostProfile) -> str | None:
    return dict(profile.environment.details).get("card")


def _alone(moved: Matrix, covariance: Matrix) -> list[Shift]:
    return [Shift(float(by), float(error)) for by, error in zip(moved, np.sqrt(np.diag(covariance)))]


def _family(old: CostProfile, new: CostProfile, name: str) -> str:
    return OTHER if name == OTHER else (new.by_name().get(name) or old.by_name()[name]).family


def _least(rules: Rules, old: CostProfile, name: str, cost: float) -> float:
    """The log of the least change worth telling, given the smaller of two costs: microseconds count both ways alike."""
    on_device = old.clock == "device"
    effect = rules.tolerance if rules.tolerance is not None else (DEVICE_EFFECT if on_device else HOST_EFFECT)
    floor = rules.floor_us if rules.floor_us is not None else (DEVICE_FLOOR_US if on_device else HOST_FLOOR_US)
    if name == OTHER:
        floor = max(floor, STEP_FLOOR * old.total_us)
    return math.log1p(max(effect, floor / cost))


def _ratios(
    reference: Reference,
    rounds: Sequence[CostProfile],
    new: CostProfile,
    rules: Rules,
    forms: Mapping[str, Mapping[str, float]],
    known: tuple[Mapping[str, int], Matrix, Matrix],
) -> Iterator[Change]:
    """Ratios change by what their operators do, however cheap those are; what all of them do alike cancels.

    `forms` has each operator's weight by form, `known` the operators' places, changes and covariance.
    """
    old, recorded = reference.profile, reference.ratios
    places, moved, covariance = known
    for form, weights in forms.items():
        now, rows = new.ratio(form), old.ratio(form)
        stored = rows if recorded is None else recorded.get(form)
        if now is None or stored is None or rows is None or not weights:  # without weights both sides are the same
            continue
        # A file that was merged or edited by hand may disagree with itself: the ratio must fit both readings.
        before = max((stored, rows), key=lambda was: abs(math.log(now / was)))
        at = [places[name] for name in weights]
        by_cost = np.array([*weights.values()])
        effect = DEVICE_EFFECT if old.clock == "device" else HOST_EFFECT
        band = rules.ratios[form.partition(" ")[0]]
        yield Change(
            op=form,
            family="ratio",
            before=before,
            now=now,
            # What the two sides of a pair share is in both of them, and not in what they differ by.
            by=float(by_cost @ moved[at]) if _all_there(reference, rounds, weights) else math.log(now / before),
            error=math.sqrt(float(by_cost @ covariance[np.ix_(at, at)] @ by_cost)) + 1e-6,
            least=math.log1p(effect if band is None else band),
            share=1.0,
        )


def _all_there(reference: Reference, rounds: Sequence[CostProfile], names: Mapping[str, float]) -> bool:
    """Whether pairs are compared, all of which have the operators that a ratio is made of."""
    return reference.paired and len(rounds) > 1 and all(names.keys() <= one.by_name().keys() for one in rounds)


def _weights(profile: CostProfile, form: str) -> dict[str, float]:
    """By how much a ratio's log changes with the log of each operator's cost, where it does."""
    pair, _, phase = form.partition(" ")
    sides = [
        (side, sign * profile.side_us(side, forward_only=phase != ""))
        for side, sign in zip(pair.split("/"), (1.0, -1.0))
    ]
    found = {}
    for op in profile.ops:
        cost = profile.cost_us(op) * (op.forward if phase else 1.0)
        if cost > 0 and (weight := sum(cost / whole for side, whole in sides if op.is_of(side))):
            found[op.name] = weight
    return found
