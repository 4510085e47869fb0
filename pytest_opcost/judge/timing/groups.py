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

    Where the two disagree, as in a file that was edited by hand, the cost holds: samples only tell how it varies. The
    median of the sessions' medians is the median of all rounds, so that a file is the same as itself.
    """
    count, profile = sum(reference.sessions), reference.profile
    table, columns, together = profile.by_name(), [], {}
    for place, names in enumerate(groups.values()):
        ops = [table[name] for name in names if name in table]
        rounds = [op.samples if len(op.samples) == count else (profile.cost_us(op),) * count for op in ops]
        column = np.array(rounds[0] if ops else (LEAST_US,) * count)
        if len(ops) > 1:
            column = np.sum(rounds, axis=0)
            # As a file keeps it, it is not the median of sums, but the sum of medians.
            together[place] = float(median(np.transpose(rounds)).sum())
            if any(len(op.samples) != count for op in ops):
                column = np.full(count, median(column))
        columns.append(column)
    costs_us = np.maximum(columns, LEAST_US).T
    kept, found = median(costs_us), np.log(costs_us)
    kept[[*together]] = np.maximum([*together.values()], LEAST_US)
    sessions = np.split(found, np.cumsum(reference.sessions)[:-1])
    edited = np.log(costs(profile, groups) / kept)
    off = edited + median(found) - median([median(session) for session in sessions])
    return [session + off for session in sessions]
