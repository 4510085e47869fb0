"""What costs did between a reference and rounds, and how that would vary without any change."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.judge.disturbed import SAME_LOAD, SAME_PACE, slower
from pytest_opcost.judge.timing import noise, paired
from pytest_opcost.judge.timing.groups import OTHER, costs, logs
from pytest_opcost.judge.timing.medians import median

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.judge.reference import Reference
    from pytest_opcost.judge.timing.groups import Groups
    from pytest_opcost.judge.timing.noise import Matrix, Prior

#: On a machine that is slower as a whole, two kinds of work differ by this part of what they have in common.
UNLIKE = 0.25
#: What a core's neighbours do, with all other cores busy: a standard deviation.
LOADED = 0.015
#: What waiting for a core does, for each tenth of the time that the thread waited.
WAITING = 0.3
#: Families that wait for their weights as much as they compute, where these are read for a few rows.
_PRODUCTS = frozenset({"addmm", "attention"})
#: Those that keep their time on a host wherever their data lie. Even `gelu`, which computes for as long as it waits for
#: memory, differed by 7 % between the processes of a quiet CPU, and batch normalisation's backward by 10 %.
_STEADY = frozenset({"conv", "rnn"})
#: Those that compute more than they read, on a device.
_COMPUTING = _PRODUCTS | {"conv"}


@dataclass(frozen=True, slots=True)
class Moved:
    """By how much the logs of figures, by name, differ from what is expected, of shape (figures,); how such differences
    vary without any change, a covariance of shape (figures, figures), and the degrees of freedom behind that.
    """

    names: tuple[str, ...]
    by: Matrix
    covariance: Matrix
    degrees: int
    #: What pairs that have more than the hour in common differ by, of shape (pairs, figures), how many of them each of
    #: their processes made, and the standard deviations of `by` if they had measured apart.
    pairs: Matrix | None = None
    processes: tuple[int, ...] = ()
    apart: Matrix | None = None
    on_device: bool = False

    def error(self, weights: Mapping[str, float], by: float, error: float) -> float:
        """The standard error of a change `by` of these figures, weighted, which is `error` unless such pairs show more.

        What is within that error they need not agree on: it is no change.
        """
        if self.pairs is None or self.apart is None or abs(by) <= error:
            return error
        at, weight = [self.names.index(name) for name in weights], np.array([*weights.values()])
        apart = float(np.linalg.norm(weight * self.apart[at]))
        pairs = self.pairs[:, at] @ weight
        return max(error, paired.least_error(pairs, self.processes, by, apart, on_device=self.on_device))

    def of(self, names: Iterable[str]) -> tuple[Matrix, Matrix]:
        """The differences of some of them, and their covariance."""
        at = [self.names.index(name) for name in names]
        return self.by[at], self.covariance[at][:, at]


def moved(
    reference: Reference,
    rounds: Sequence[CostProfile],
    new: CostProfile,
    groups: Groups,
    factor: float,
    *,
    same_places: bool = True,
) -> Moved:
    """What the groups' costs did between the reference and the rounds.

    `same_places`: whether both sides of a pair take memory alike, so that their tensors lie at the same places.
    """
    priors = [prior_of(reference.profile, name) for name in groups]
    then, now = logs(reference, groups), np.log([costs(one, groups) for one in rounds])
    around = _circumstances(reference, new, groups, priors, factor)
    if reference.paired and len(then) == 1 and len(then[0]) == len(now) > 1:
        apart = _apart(reference, priors, then[0], now)
        found = _of_pairs(reference, groups, priors, now - then[0], apart, same_places=same_places)
    else:
        known = noise.expected(then, priors)
        covariance = known.covariance(now, same_session=reference.paired)
        found = Moved(tuple(groups), median(now) - known.logs, covariance, known.degrees)
    return replace(found, covariance=found.covariance + around)


def _apart(reference: Reference, priors: Sequence[Prior], base: Matrix, head: Matrix) -> Matrix:
    """The variances that the differences of two sides, logs of shape (pairs, figures), would have without pairs."""
    worth = 1.0
    if reference.profile.clock == "device" and reference.processes:
        # All that a process found may have been at one place.
        base, head = (paired.of_processes(side, reference.processes) for side in (base, head))
        worth = paired.PLACES**2
    variances: Matrix = worth * np.diag(noise.expected([base], priors).covariance(head, same_session=True))
    return variances


def _of_pairs(
    reference: Reference,
    groups: Groups,
    priors: Sequence[Prior],
    differences: Matrix,
    apart: Matrix,
    *,
    same_places: bool,
) -> Moved:
    """What the two sides of pairs differ by; `apart` are the variances that this would have without pairs."""
    on_device, in_turns = reference.profile.clock == "device", reference.in_turns
    processes = reference.processes or (1,) * len(differences)
    pairs = paired.paired(differences, costs(reference.profile, groups), priors, in_turns=in_turns, processes=processes)
    unlike = pairs.unlike | (not same_places and on_device)
    # What the two do not share is as uncertain as it would be without pairs, or as they show themselves: where a device
    # draws its places anew for each of them, or, on a host, where enough processes show less.
    alone = apart
    if np.isfinite(pairs.scatter).all():
        if on_device and same_places:
            alone = pairs.scatter
        elif in_turns and len(processes) >= paired.FEWEST_TO_AGREE:
            alone = np.minimum(pairs.scatter, apart)
    covariance = np.diag(np.where(unlike, alone, 0.0)) + pairs.covariance * np.outer(~unlike, ~unlike)
    found = Moved(tuple(groups), pairs.moved, covariance, pairs.degrees)
    if not (in_turns or on_device):
        return found
    return replace(found, pairs=differences, processes=processes, apart=np.sqrt(apart), on_device=on_device)


def prior_of(profile: CostProfile, name: str) -> Prior:
    """What is known beforehand of a group's noise, by the kind of work that it does."""
    family = OTHER if name == OTHER else profile.by_name()[name].family
    if profile.clock == "device":
        return noise.DEVICE_COMPUTING if family in _COMPUTING else noise.DEVICE_STREAMING
    if family == OTHER:
        return noise.POOLED
    if family in _PRODUCTS:
        return noise.PRODUCTS
    return noise.COMPUTING if family in _STEADY else noise.STREAMING


def _circumstances(
    reference: Reference, new: CostProfile, groups: Groups, priors: Sequence[Prior], factor: float
) -> Matrix:
    """What adds to the noise, as a covariance: another card, a machine busier or slower than the reference's."""
    old = reference.profile
    at = costs(old, groups)
    variance = np.full(len(groups), (UNLIKE * math.log(factor)) ** 2)
    if old.clock == "device" and old.environment.card != new.environment.card:
        variance += [prior.other_card.of(cost) ** 2 for prior, cost in zip(priors, at)]
    if old.clock == "host":
        streaming = np.array([1.0 if prior is noise.COMPUTING else 2.0 for prior in priors])
        load = abs(new.load - old.load)
        variance += (LOADED * load * streaming) ** 2 + (WAITING * max(load - SAME_LOAD, 0.0)) ** 2
        # Each kind of work by its own part: 4 % to 60 % more where fixed code takes 37 % to 100 % more.
        variance += max(abs(slower(old, new)) - SAME_PACE, 0.0) ** 2
    more: Matrix = np.diag(variance)
    return more
