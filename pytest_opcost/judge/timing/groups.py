"""What is judged by time: operators by themselves, or several that are too cheap for that together."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_opcost.judge.timing.medians import median

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.judge.reference import Reference
    from pytest_opcost.judge.timing.noise import Matrix

    #: What is judged, by its name: operators whose costs are added up, mostly one.
    Groups: TypeAlias = "dict[str, list[str]]"

#: An operator is judged by itself from this share of the step on, in the baseline or now; the rest together.
SHARE_FLOOR = 0.02
#: What an operator costs at least, so that it has a log.
LEAST_US = 1e-3
OTHER = "other"


def judged(old: CostProfile, new: CostProfile, rounds: Sequence[CostProfile], changed: set[str]) -> Groups:
    """The operators that are judged by themselves, and `OTHER` for the rest if there is one worth it."""
    was, now = old.by_name(), new.by_name()
    always = set.intersection(*(set(one.by_name()) for one in rounds))
    both = [name for name in was if name in always and name not in changed and not was[name].waits]
    both = [name for name in both if min(old.cost_us(was[name]), new.cost_us(now[name])) > 0]
    single = [name for name in both if max(was[name].share, now[name].share) >= SHARE_FLOOR]
    rest = [name for name in both if name not in single]
    groups = {name: [name] for name in single}
    if min(sum(table[name].share for name in rest) for table in (was, now)) >= SHARE_FLOOR:
        groups[OTHER] = rest
    return groups


def costs(profile: CostProfile, groups: Groups) -> Matrix:
    """Microseconds of each group's operators together; never 0, since they are judged in logs."""
    table, cost_us = profile.by_name(), profile.cost_us
    sums = [sum([cost_us(table[name]) for name in names if name in table]) for names in groups.values()]
    return np.maximum(sums, LEAST_US)


def logs(reference: Reference, groups: Groups) -> list[Matrix]:
    """The reference's rounds, session by session; what has no samples of its own stands at its cost in all of them.

    Where the two disagree, as in a file that was edited by hand, the cost holds: samples only tell how it varies.
    """
    count, table = sum(reference.sessions), reference.profile.by_name()
    whole_costs = dict(zip(groups, costs(reference.profile, groups)))
    columns = []
    for group, names in groups.items():
        samples = [table[name].samples for name in names if name in table]
        whole = len(samples) == len(names) and all(len(one) == count for one in samples)
        columns.append(np.sum(samples, axis=0) if whole else np.full(count, whole_costs[group]))
    found = np.log(np.maximum(columns, LEAST_US)).T
    found = found + (np.log(list(whole_costs.values())) - median(found))
    return np.split(found, np.cumsum(reference.sessions)[:-1])
