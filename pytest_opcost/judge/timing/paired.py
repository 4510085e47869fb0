"""How far the two sides of pairs differ by themselves, and what the pairs show of it.

Both sides share what the machine did at that moment, and on a device the places in its memory. What is left is drawn
anew for each pair, but may be alike in those that the same two processes made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.judge.timing.medians import median
from pytest_opcost.judge.timing.noise import (
    MEDIAN,
    PRIOR_ROUNDS,
    known_covariance,
    learned_covariance,
    standard_deviations,
    steadier_by,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_opcost.judge.timing.noise import Matrix, Prior

#: A change that two pairs in turns or more do not show is no more than this many standard errors: suspicious, never
#: certain.
DOUBTFUL = 3.0
#: On another machine, or of another operator, pairs may differ by several times what is known of them. Those of fewer
#: processes do not show that: they raise a suspicion, and nothing is certain that would not be so if they had measured
#: apart.
FEWEST_TO_AGREE = 8
#: On a device one of so many processes may have found no change, of fewer none. Where the two sides' memory lies
#: elsewhere, as it may beside another program on the card, small kernels have two paces, 5 % apart, and a process keeps
#: its own: 92 of 2,000 clean runs failed when five of six were enough, 10 with this and `PLACES` (measured, H200).
FEWEST_TO_DISSENT = 10
#: What a few processes' places in a device's memory are worth, in what is known of rounds.
PLACES = 2.0
#: By so many parts, divided by its degrees of freedom, the variance of what a few processes in turns found counts as
#: larger: they may be alike by chance. Without it 1 to 5 of 5,000 clean runs failed in LeNet's two noisiest operators,
#: in each of four sessions, and 0 to 2 with it (measured, AMD EPYC).
ALIKE = 4
#: Pairs whose differences vary by more than so many times what is known of pairs are no pairs.
UNLIKE_PAIRS = 2.0
#: How many processes it is worth that repetitions of one process differ as those of several do.
PRIOR_PROCESSES = 4
#: By so many parts more, divided by its degrees of freedom, a variance of few counts: the square of Student's quantile
#: of one in 100,000 is as much larger than with some thirty.
SURPRISES = 16


@dataclass(frozen=True, slots=True)
class Paired:
    """What pairs of rounds differ by: the median of logs' differences, and how that would vary without any change.

    `unlike` marks operators whose differences vary so much that the rounds of a pair share less than is known of pairs:
    where one side allocates otherwise, its memory lies elsewhere. `scatter` is the variance of the median by what the
    differences themselves show, infinite where they are too few.
    """

    moved: Matrix
    covariance: Matrix
    degrees: int
    unlike: NDArray[np.bool_]
    scatter: Matrix


def paired(
    differences: Matrix,
    costs_us: Matrix,
    priors: Sequence[Prior],
    *,
    in_turns: bool = False,
    processes: Sequence[int] = (),
) -> Paired:
    """What the differences of logs in each pair, of shape (pairs, operators), come to; for `in_turns` and `processes`,
    see `Reference`.

    `costs_us` are the operators' costs. What both rounds of a pair have in common, such as the hour and the places in a
    device's memory, is in neither figure.
    """
    pairs, moved = len(differences), median(differences)
    off = differences - moved
    sd, least_sd = (
        standard_deviations([prior.differences(in_turns=in_turns) for prior in kind], costs_us)
        for kind in (priors, [prior.steadiest for prior in priors])
    )
    known = known_covariance(sd, priors)
    steadier = steadier_by(sd, least_sd, off, pairs - 1)
    learned = learned_covariance(off, known_covariance(steadier * sd, priors), PRIOR_ROUNDS, pairs - 1)
    # By the median: one pair that was disturbed moves no median of differences either.
    seen_sd = 1.4826 * median(np.abs(off))
    unlike = seen_sd > UNLIKE_PAIRS * np.sqrt(np.diag(known))
    varies = np.diag(learned_covariance(off, np.diag(np.maximum(seen_sd, sd) ** 2), PRIOR_ROUNDS, pairs - 1))
    alike = _alike_in_a_process(off, varies, processes)
    few = 1 + SURPRISES / (PRIOR_PROCESSES + len(processes) - 1)
    scatter = varies * np.maximum(few * alike, 1.0) if len(processes) > 2 else np.full_like(varies, math.inf)
    together = np.sqrt(np.maximum(alike, 1.0))
    of_median = (MEDIAN if pairs > 2 else 1.0) / pairs
    return Paired(
        moved,
        learned * np.outer(together, together) * of_median,
        PRIOR_ROUNDS + pairs - 1,
        unlike,
        scatter * of_median,
    )


def _alike_in_a_process(off: Matrix, varies: Matrix, processes: Sequence[int]) -> Matrix:
    """By how much the variance of a mean of deviations, of shape (pairs, operators), is that of pairs that have nothing
    in common, whose variance is `varies`: more than 1 where those of the same `processes` are off alike.

    The design effect of a sample in clusters (Kish, 1965).
    """
    if max(processes, default=1) == 1:
        return np.ones_like(varies)
    counts = np.array(processes)
    # As far off as a pair, and of as much weight as their pairs have in the mean.
    as_single = (counts / math.sqrt(counts.mean()))[:, None] * of_processes(off, processes)
    return np.diag(learned_covariance(as_single, np.diag(varies), PRIOR_PROCESSES, len(processes) - 1)) / varies


def of_processes(differences: Matrix, processes: Sequence[int]) -> Matrix:
    """The means of the differences, of shape (pairs, ...), that each of the processes made."""
    ends = np.cumsum(processes)
    return np.array([part.mean(axis=0) for part in np.split(differences, ends[:-1])])


def least_error(
    differences: Matrix, processes: Sequence[int], by: float, apart: float, *, on_device: bool = False
) -> float:
    """The least standard error of a change `by` that the differences of pairs, of shape (pairs,), allow: that of the
    mean of what `processes` found, or, where these do not agree, what it would be `apart`, and no less than a suspicion
    has.

    Where they are fewer than `FEWEST_TO_AGREE`, it is that of a suspicion unless the change would be certain `apart`. A
    change is in all processes alike, but for one that may have been disturbed: in one of four `gelu_backward` took 45 %
    longer, pooling 35 % in every other one, so that it may seem dearer in most pairs (measured, AMD EPYC). While none
    may dissent, one that does leaves a suspicion, which more of them may yet confirm.
    """
    found, counts = of_processes(differences, processes), np.array(processes)
    doubtful = max(apart, abs(by) / DOUBTFUL)
    if len(found) < 3:  # without the farthest there is no telling how they vary
        return doubtful
    near = np.abs(found - np.median(found)).argsort()[:-1]
    off = found[near] - np.average(found[near], weights=counts[near])
    degrees = len(near) - 1
    own = math.sqrt(float((counts[near] * off**2).sum()) / degrees * (1 + ALIKE / degrees) / int(counts[near].sum()))
    dissent = len(found) - np.count_nonzero(found * by > 0)
    if dissent > 1:
        return max(own, doubtful)
    enough = FEWEST_TO_DISSENT if on_device and dissent else FEWEST_TO_AGREE
    return own if len(found) >= enough else max(own, min(apart, abs(by) / DOUBTFUL))
