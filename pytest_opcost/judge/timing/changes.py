"""By how much every operator's cost, and every declared ratio, changed beyond what noise and the machine explain."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.costs import CostProfile, ratio_forms
from pytest_opcost.judge.timing.change import Change, Changes, least_effect
from pytest_opcost.judge.timing.groups import OTHER, costs, judged
from pytest_opcost.judge.timing.machine import FEWEST_FOR_FACTOR, machine_factor
from pytest_opcost.judge.timing.moved import moved
from pytest_opcost.judge.timing.ratios import ratio_changes, weights_of
from pytest_opcost.judge.timing.shift import Shift, shifts
from pytest_opcost.merging import as_one, beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_opcost.judge.reference import Reference, Rules
    from pytest_opcost.judge.timing.noise import Matrix

#: The least change worth telling in microseconds a step, unless the user says otherwise.
HOST_FLOOR_US, DEVICE_FLOOR_US = 2.0, 0.01
#: What is too cheap to be judged by itself must together move by this much of the whole step.
STEP_FLOOR = 0.005
#: What is within this of 1 is left to what is known of operators' common noise.
STEADY = 0.03
#: No common noise moves most operators this far.
BEYOND_NOISE = 0.1
#: Families that allocate nothing.
_WITHOUT_MEMORY = frozenset({"view", "query", "autograd", "runtime", "wait"})


def changes(reference: Reference, rounds: Sequence[CostProfile], rules: Rules, changed: set[str]) -> Changes:
    """How each operator above its share floor, the rest together, and each ratio changed.

    Operators in `changed` do other work than before: their times do not compare.
    """
    old, new = reference.profile, as_one(rounds)
    if reference.in_turns:
        new = beside(old, rounds, new)
    groups = judged(old, new, rounds, changed)
    if not groups:
        return Changes((), (), 1.0, 0, new)
    names, factor = list(groups), machine_factor(old, new, changed)
    forms = {form: weights_of(old, form) for declared in rules.ratios for form in ratio_forms(new, (declared,))}
    # What is known of one figure does not depend on which others are asked for with it.
    every = groups | {name: [name] for weights in forms.values() for name in weights}
    found = moved(reference, rounds, new, every, factor, same_places=not _takes_memory(changed, old, new))
    by, covariance = found.of(groups)
    # What operators do together is known up to a few per cent; beyond, it is taken out as it is.
    together = math.copysign(max(abs(math.log(factor)) - STEADY, 0.0), math.log(factor))
    by = by - together
    # The common noise of a few operators cannot be told from the drift of one; nor is it common noise what most of them
    # did together so far beyond what a machine does, such as a model made four times as wide.
    few = len(names) < FEWEST_FOR_FACTOR or (factor == 1 and abs(median(by)) > BEYOND_NOISE)
    own = _alone(by, covariance) if few else shifts(by, covariance)
    table = costs(old, groups), costs(new, groups)
    operators = tuple(
        Change(
            op=name,
            family=_family(old, new, name),
            before=float(was),
            now=float(is_),
            by=shift.by,
            error=found.error({name: 1.0}, shift.by, shift.error),
            least=_least(rules, old, name, float(min(was, is_))),
            share=max(float(was) / old.total_us, float(is_) / new.total_us),
        )
        for name, was, is_, shift in zip(names, *table, own)
    )
    ratios = tuple(ratio_changes(reference, rounds, new, rules, forms, found))
    return Changes(operators, ratios, factor, found.degrees, new)


def _takes_memory(names: Iterable[str], *profiles: CostProfile) -> bool:
    """Whether any of these operators may allocate: where one came, went or does other work, all others' tensors lie
    elsewhere. A copy of 1 us made a neighbour dearer by 5 % so (measured, H200).
    """
    families = {profile.by_name()[name].family for name in names for profile in profiles if name in profile.by_name()}
    return not families <= _WITHOUT_MEMORY


def _alone(moved: Matrix, covariance: Matrix) -> list[Shift]:
    return [Shift(float(by), float(error)) for by, error in zip(moved, np.sqrt(np.diag(covariance)))]


def _family(old: CostProfile, new: CostProfile, name: str) -> str:
    return OTHER if name == OTHER else (new.by_name().get(name) or old.by_name()[name]).family


def _least(rules: Rules, old: CostProfile, name: str, cost: float) -> float:
    """The log of the least change worth telling, given the smaller of two costs: microseconds count both ways alike."""
    on_device = old.clock == "device"
    effect = rules.tolerance if rules.tolerance is not None else least_effect(old)
    floor = rules.floor_us if rules.floor_us is not None else (DEVICE_FLOOR_US if on_device else HOST_FLOOR_US)
    if name == OTHER:
        floor = max(floor, STEP_FLOOR * old.total_us)
    return math.log1p(max(effect, floor / cost))
