"""By how much declared ratios changed."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.judge.timing.change import Change, least_effect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.judge.reference import Reference, Rules
    from pytest_opcost.judge.timing.moved import Moved


def ratio_changes(
    reference: Reference,
    rounds: Sequence[CostProfile],
    new: CostProfile,
    rules: Rules,
    forms: Mapping[str, Mapping[str, float]],
    found: Moved,
) -> Iterator[Change]:
    """Ratios change by what their operators do, however cheap those are; what all of them do alike cancels.

    `forms` has the weights of each form's operators.
    """
    old, recorded = reference.profile, reference.ratios
    for form, weights in forms.items():
        now, rows = new.ratio(form), old.ratio(form)
        stored = rows if recorded is None else recorded.get(form)
        if now is None or stored is None or rows is None or not weights:  # without weights both sides are the same
            continue
        # A file that was merged or edited by hand may disagree with itself: the ratio must fit both readings.
        before = max((stored, rows), key=lambda was: abs(math.log(now / was)))
        moved, covariance = found.of(weights)
        by_cost = np.array([*weights.values()])
        band = rules.ratios[form.partition(" ")[0]]
        # What the two sides of a pair share is in both of them, and not in what they differ by.
        by = float(by_cost @ moved) if _all_there(reference, rounds, weights) else math.log(now / before)
        error = math.sqrt(float(by_cost @ covariance @ by_cost)) + 1e-6
        yield Change(
            op=form,
            family="ratio",
            before=before,
            now=now,
            by=by,
            error=found.error(weights, by, error),
            least=math.log1p(least_effect(old) if band is None else band),
            share=1.0,
        )


def _all_there(reference: Reference, rounds: Sequence[CostProfile], names: Mapping[str, float]) -> bool:
    """Whether pairs are compared, all of which have the operators that a ratio is made of."""
    return reference.paired and len(rounds) > 1 and all(names.keys() <= one.by_name().keys() for one in rounds)


def weights_of(profile: CostProfile, form: str) -> dict[str, float]:
    """By how much a ratio's log changes with the log of each operator's cost, where it does."""
    pair, _, phase = form.partition(" ")
    found: defaultdict[str, float] = defaultdict(float)
    for side, sign in zip(pair.split("/"), (1.0, -1.0)):
        whole = profile.side_us(side, forward_only=phase != "")
        for op in profile.side(side):
            if (cost := profile.cost_us(op) * (op.forward if phase else 1.0)) > 0:
                found[op.name] += sign * cost / whole
    return {name: weight for name, weight in found.items() if weight}
