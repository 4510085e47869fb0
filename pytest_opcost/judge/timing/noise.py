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
    rounds_sd = standard_deviations([prior.rounds for prior in priors], costs)
    if of_sessions == 1:
        # A few rounds, like a few pairs, do not show all of this noise, see `STREAMING`; those of several sessions do.
        rounds_sd = np.maximum(rounds_sd, standard_deviations([prior.pairs or prior.rounds for prior in priors], costs))
    least_sd = standard_deviations([prior.steadiest.rounds for prior in priors], costs)
    steadier = steadier_by(rounds_sd, least_sd, within, degrees)
    # Where rounds are steadier than others of their kind, so are sessions.
    sessions_sd = np.maximum(
        steadier * standard_deviations([prior.sessions for prior in priors], costs),
        standard_deviations([prior.steadiest.sessions for prior in priors], costs),
    )
    rounds_known, sessions_known = known_covariance(steadier * rounds_sd, priors), known_covariance(sessions_sd, priors)
    return Expected(
        logs=logs,
        rounds=learned_covariance(within, rounds_known, PRIOR_ROUNDS, degrees),
        sessions=learned_covariance(medians - logs, sessions_known, PRIOR_SESSIONS, of_sessions - 1),
        of_rounds=of_rounds,
        of_sessions=of_sessions,
        degrees=PRIOR_ROUNDS + degrees,
    )


def standard_deviations(spreads: Sequence[Spread], costs_us: Matrix) -> Matrix:
    """Those of the logs of operators with these costs, each with a spread of its own."""
    relative, microseconds = np.array([(spread.relative, spread.microseconds) for spread in spreads]).T
    sd: Matrix = relative + microseconds / costs_us
    return sd


def steadier_by(sd: Matrix, least: Matrix, off: Matrix, degrees: int) -> Matrix:
    """What is left of the standard deviations `sd`, as a part of each, that are known beforehand, `least` at least:
    no more than the upper bound that deviations `off`, of shape (samples, operators), put on them.

    Their sum of squares is compared with the 1 % quantile of the chi-squared distribution.
    """
    if degrees < FEWEST_TO_CONTRADICT:
        return np.ones_like(sd)
    quantile = degrees * _of_mean_square(degrees, CONTRADICTED)
    bound: Matrix = np.clip(np.sqrt((off**2).sum(axis=0) / quantile), np.minimum(least, sd), sd)
    # What does not vary at all has not been seen to be steady, see `learned_covariance`.
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


def known_covariance(sd: Matrix, priors: Sequence[Prior]) -> Matrix:
    """What is known beforehand of operators with these standard deviations, as a covariance."""
    shared = np.sqrt([prior.correlation for prior in priors])
    together = np.outer(shared, shared)
    np.fill_diagonal(together, 1.0)
    known: Matrix = together * np.outer(sd, sd)
    return known


def learned_covariance(off: Matrix, prior: Matrix, worth: int, degrees: int) -> Matrix:
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
