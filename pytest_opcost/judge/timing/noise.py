"""How far operators' costs move by themselves: from round to round, and from one session to another.

A round is a fresh process, where most of the noise of a cost lives; the rounds of one session share what the machine
did in that hour. Costs are judged in logs. What is known beforehand of operators of such a size and kind is worth some
rounds, and gives way to the baseline's own rounds as they get more: the mean of an inverse Wishart posterior.
The figures of that prior are measured, see tests/benchmarks/verdicts.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_opcost.judge.timing.medians import median

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

#: How many rounds, and how many sessions, what is known beforehand is worth.
PRIOR_ROUNDS, PRIOR_SESSIONS = 10, 6
#: What operators do together on a host: the correlation of their noise, between rounds and between sessions.
CORRELATION = 0.6
#: The variance of a median of several rounds, in variances of their mean: noise has heavier tails than the normal
#: distribution, for which it would be 1.57.
MEDIAN = 1.3
#: A round further off than this many standard deviations was disturbed as a whole: it counts as just so far.
FARTHEST = 3.0
#: What is known beforehand gives way to what rounds show where these are so much steadier that the chance is less than
#: 1 %: the normal distribution's quantile.
CONTRADICTED = -2.326
#: Fewer deviations agree by chance where costs come in a few steps: `clamp_min` did so, dearer by 8 % in five pairs.
FEWEST_TO_CONTRADICT = 6
#: Rounds of an operator that vary so much more than was expected that the chance is less than 5 % vary as they do.
CONTRADICTED_NOW = 1.645
#: A change that two pairs in turns or more do not show is no more than this many standard errors: suspicious, never
#: certain.
DOUBTFUL = 3.0
#: On another machine, or of another operator, pairs in turns may differ by several times what is known of them. Those
#: of fewer processes do not show that: they raise a suspicion, and nothing is certain that would not be so if they had
#: measured apart.
FEWEST_IN_TURNS = 8
#: The same on a device, where a round costs more.
FEWEST_ON_DEVICE = 6
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
class Spread:
    """A standard deviation of the log of a cost: a part of it, and so many microseconds."""

    relative: float
    microseconds: float

    def of(self, costs_us: Matrix) -> Matrix:
        """That of operators with these costs."""
        return self.relative + self.microseconds / costs_us


@dataclass(frozen=True, slots=True)
class Prior:
    """What rounds and sessions of one kind of operator do, before any was seen, and how far others do the same.

    `pairs` is what the two rounds of a pair differ by if they were made one after the other, `turns` if they measured
    in turns; `other_card` is what another card of the same model adds.
    """

    rounds: Spread
    sessions: Spread
    correlation: float = CORRELATION
    pairs: Spread | None = None
    other_card: Spread = Spread(0.0, 0.0)
    turns: Spread | None = None

    def differences(self, *, in_turns: bool) -> Spread:
        """What the two rounds of a pair differ by, which share no more than the moment unless it is known better."""
        if in_turns and self.turns:
            return self.turns
        return self.pairs or Spread(math.sqrt(2) * self.rounds.relative, math.sqrt(2) * self.rounds.microseconds)

    @property
    def steadiest(self) -> Prior:
        """The steadiest operators on the same clock: no other is trusted to be steadier."""
        return DEVICE_COMPUTING if self.pairs is IN_PAIRS else COMPUTING


#: The two sides of pairs that measured in turns differed by 0.3 to 1.2 % in convolutions, 0.8 to 3.5 in products and
#: 0.2 to 3 in what streams (measured, AMD EPYC).
COMPUTING = Prior(Spread(0.012, 1.0), Spread(0.008, 0.3), turns=Spread(0.006, 0.6))
#: Matrix products read each weight once for a few rows: a small one waits for memory more than it computes.
PRODUCTS = Prior(Spread(0.025, 4.0), Spread(0.015, 3.0), turns=Spread(0.014, 2.0))
#: Other guests of the machine share its memory. Random numbers keep their pace in a session, but not between two. What
#: a few pairs show of this noise, whose tails are heavy, is not all of it.
STREAMING = Prior(Spread(0.045, 5.0), Spread(0.025, 3.0), pairs=Spread(0.085, 7.0), turns=Spread(0.030, 3.0))
#: Many small operators together.
POOLED = Prior(Spread(0.045, 3.0), Spread(0.030, 3.0), turns=Spread(0.018, 2.0))
#: The two rounds of a pair find their tensors at the same places: they differ by 0.05 to 0.5 %, whatever they do.
IN_PAIRS = Spread(0.002, 0.01)
#: A device's time depends on where in its memory the tensors lie, which each round draws anew, and each operator's by
#: itself. Between the processes of one card, operators that compute differed by 0.3 to 0.5 %, those that stream through
#: memory by 1.3 %, at most 4.4. The medians of six cards differed by 0.7 and 1.5 %; the seventh was slower, by 1.3 and
#: 5 %, at most 2.6 and 10, the same in all of its processes (measured, H200).
DEVICE_COMPUTING = Prior(Spread(0.003, 0.01), Spread(0.002, 0.005), 0.0, IN_PAIRS, Spread(0.008, 0.02))
DEVICE_STREAMING = Prior(Spread(0.014, 0.01), Spread(0.006, 0.01), 0.0, IN_PAIRS, Spread(0.020, 0.03))


@dataclass(frozen=True, slots=True)
class Expected:
    """What a session without any change would find: logs of costs, shape (operators,), and how they would vary, as
    covariances of shape (operators, operators). `degrees` of freedom are behind these.
    """

    logs: Matrix
    rounds: Matrix
    sessions: Matrix
    of_rounds: int
    of_sessions: int
    degrees: int

    def covariance(self, rounds_now: Matrix, *, same_session: bool = False) -> Matrix:
        """How the median of these rounds, logs of shape (rounds, operators), differs from what is expected, of shape
        (operators, operators).
        """
        now, then = (1.0 / n * (MEDIAN if n > 2 else 1.0) for n in (len(rounds_now), self.of_rounds))
        between = 0.0 if same_session else 1.0 + 1.0 / self.of_sessions
        unsteady = np.diag(_unsteady(rounds_now, np.diag(self.rounds)))
        return self.rounds * (now + then) + unsteady * now + self.sessions * between


def expected(sessions: Sequence[Matrix], priors: Sequence[Prior]) -> Expected:
    """What the rounds of a baseline lead to expect.

    `sessions` are logs of costs, each of shape (rounds, operators), `priors` what is known of each operator.
    """
    medians = np.array([median(session) for session in sessions])
    logs = median(medians)
    costs = np.exp(logs)
    of_rounds, of_sessions = sum(map(len, sessions)), len(sessions)
    within = np.concatenate([session - middle for session, middle in zip(sessions, medians)])
    degrees = of_rounds - of_sessions
    rounds_sd = _spreads([prior.rounds for prior in priors], costs)
    if of_sessions == 1:
        # A few rounds, like a few pairs, do not show all of this noise, see `STREAMING`; those of several sessions do.
        rounds_sd = np.maximum(rounds_sd, _spreads([prior.pairs or prior.rounds for prior in priors], costs))
    least_sd = _spreads([prior.steadiest.rounds for prior in priors], costs)
    steadier = _steadier(rounds_sd, least_sd, within, degrees)
    # Where rounds are steadier than others of their kind, so are sessions.
    sessions_sd = np.maximum(
        steadier * _spreads([prior.sessions for prior in priors], costs),
        _spreads([prior.steadiest.sessions for prior in priors], costs),
    )
    rounds_known, sessions_known = _known(steadier * rounds_sd, priors), _known(sessions_sd, priors)
    return Expected(
        logs=logs,
        rounds=_learned(within, rounds_known, PRIOR_ROUNDS, degrees),
        sessions=_learned(medians - logs, sessions_known, PRIOR_SESSIONS, of_sessions - 1),
        of_rounds=of_rounds,
        of_sessions=of_sessions,
        degrees=PRIOR_ROUNDS + degrees,
    )


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
    sd, least_sd = (
        _spreads([prior.differences(in_turns=in_turns) for prior in kind], costs_us)
        for kind in (priors, [prior.steadiest for prior in priors])
    )
    known = _known(sd, priors)
    steadier = _steadier(sd, least_sd, differences - moved, pairs - 1)
    learned = _learned(differences - moved, _known(steadier * sd, priors), PRIOR_ROUNDS, pairs - 1)
    # By the median: one pair that was disturbed moves no median of differences either.
    seen_sd = 1.4826 * median(np.abs(differences - moved))
    unlike = seen_sd > UNLIKE_PAIRS * np.sqrt(np.diag(known))
    varies = np.diag(_learned(differences - moved, np.diag(np.maximum(seen_sd, sd) ** 2), PRIOR_ROUNDS, pairs - 1))
    alike = _alike_in_a_process(differences - moved, varies, processes)
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
    as_single = (counts / math.sqrt(counts.mean()))[:, None] * _of_processes(off, processes)
    return np.diag(_learned(as_single, np.diag(varies), PRIOR_PROCESSES, len(processes) - 1)) / varies


def _of_processes(differences: Matrix, processes: Sequence[int]) -> Matrix:
    """The means of the differences, of shape (pairs, ...), that each of the processes made."""
    ends = np.cumsum(processes)
    return np.array([part.mean(axis=0) for part in np.split(differences, ends[:-1])])


def least_error(differences: Matrix, processes: Sequence[int], by: float, apart: float, fewest: int) -> float:
    """The least standard error of a change `by` that the differences of pairs, of shape (pairs,), allow: that of the
    mean of what `processes` found, or, where these do not agree, what it would be `apart`, and no less than a suspicion
    has.

    Where they are fewer than `fewest`, it is that of a suspicion unless the change would be certain `apart`. A change
    is in all processes alike, but for one that may have been disturbed: in one of four `gelu_backward` took 45 %
    longer, pooling 35 % in every other one, so that it may seem dearer in most pairs (measured, AMD EPYC).
    """
    found, counts = _of_processes(differences, processes), np.array(processes)
    doubtful = max(apart, abs(by) / DOUBTFUL)
    if len(found) < 3:  # without the farthest there is no telling how they vary
        return doubtful
    near = np.abs(found - np.median(found)).argsort()[:-1]
    off = found[near] - np.average(found[near], weights=counts[near])
    degrees = len(near) - 1
    own = math.sqrt(float((counts[near] * off**2).sum()) / degrees * (1 + ALIKE / degrees) / int(counts[near].sum()))
    if len(found) < fewest:
        own = max(own, min(apart, abs(by) / DOUBTFUL))
    agree = np.count_nonzero(found * by > 0) >= len(found) - 1
    return own if agree else max(own, doubtful)


def _spreads(spreads: Sequence[Spread], costs_us: Matrix) -> Matrix:
    relative, microseconds = np.array([(spread.relative, spread.microseconds) for spread in spreads]).T
    sd: Matrix = relative + microseconds / costs_us
    return sd


def _steadier(sd: Matrix, least: Matrix, off: Matrix, degrees: int) -> Matrix:
    """What is left of the standard deviations `sd`, as a part of each, that are known beforehand, `least` at least:
    no more than the upper bound that deviations `off`, of shape (samples, operators), put on them.

    Their sum of squares is compared with the 1 % quantile of the chi-squared distribution.
    """
    if degrees < FEWEST_TO_CONTRADICT:
        return np.ones_like(sd)
    quantile = degrees * _of_mean_square(degrees, CONTRADICTED)
    bound: Matrix = np.clip(np.sqrt((off**2).sum(axis=0) / quantile), np.minimum(least, sd), sd)
    # What does not vary at all has not been seen to be steady, see `_learned`.
    return np.where(off.any(axis=0), bound / sd, 1.0)


def _unsteady(rounds: Matrix, known: Matrix) -> Matrix:
    """By how much more the logs of costs in these rounds, of shape (rounds, operators), vary than their `known`
    variances; 0 where chance explains it. What makes a step dearer does so in every round, a neighbour in some.
    """
    if len(rounds) < 3:
        return np.zeros_like(known)
    limit = FARTHEST * np.sqrt(known)
    seen = np.clip(rounds - median(rounds), -limit, limit).var(axis=0, ddof=1)
    return np.where(seen > known * _of_mean_square(len(rounds) - 1, CONTRADICTED_NOW), seen - known, 0.0)


def _of_mean_square(degrees: int, normal: float) -> float:
    """The quantile of the chi-squared distribution, divided by its degrees of freedom, that stands where the normal
    distribution has `normal` (Wilson and Hilferty, 1931).
    """
    spread = 2 / (9 * degrees)
    return (1 - spread + normal * math.sqrt(spread)) ** 3


def _known(sd: Matrix, priors: Sequence[Prior]) -> Matrix:
    """What is known beforehand of operators with these standard deviations, as a covariance."""
    shared = np.sqrt([prior.correlation for prior in priors])
    together = np.outer(shared, shared)
    np.fill_diagonal(together, 1.0)
    known: Matrix = together * np.outer(sd, sd)
    return known


def _learned(off: Matrix, prior: Matrix, worth: int, degrees: int) -> Matrix:
    """The covariance of deviations `off`, shape (samples, operators), with a prior one that is worth some of them."""
    if not degrees:
        return prior
    prior_sd = np.sqrt(np.diag(prior))
    limit = FARTHEST * np.maximum(prior_sd, 1.4826 * median(np.abs(off)))
    off = np.clip(off, -limit, limit)
    learned: Matrix = (worth * prior + off.T @ off) / (worth + degrees)
    # What has no samples of its own has not been seen to be steady: it is left at what is known beforehand.
    unseen = ~off.any(axis=0)
    grown = np.where(unseen, prior_sd / np.sqrt(np.diag(learned)), 1.0)
    learned = learned * np.outer(grown, grown)
    return learned
