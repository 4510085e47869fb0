"""What a baseline's rounds lead to expect; simulations have seeded generators."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("numpy")

import numpy as np  # only where there is one

from pytest_opcost.judge.timing import noise
from pytest_opcost.judge.timing.noise import (
    COMPUTING,
    CORRELATION,
    DEVICE_COMPUTING,
    MEDIAN,
    STREAMING,
    expected,
)
from pytest_opcost.judge.timing.paired import ALIKE, DOUBTFUL, FEWEST_TO_AGREE, least_error, paired

COSTS = np.array([400.0, 200.0, 100.0, 50.0])
PRIORS = [COMPUTING, COMPUTING, STREAMING, DEVICE_COMPUTING]
ROUNDS = np.array([0.012 + 1 / 400, 0.012 + 1 / 200, 0.045 + 5 / 100, 0.003 + 0.01 / 50])
#: A baseline of one session knows less of what streams.
ALONE = np.array([*ROUNDS[:2], 0.085 + 7 / 100, ROUNDS[3]])
SESSIONS = np.array([0.008 + 0.3 / 400, 0.008 + 0.3 / 200, 0.025 + 3 / 100, 0.002 + 0.005 / 50])

#: On a host operators share their noise; on a device each has its own.
TOGETHER = np.array([[CORRELATION, CORRELATION, CORRELATION, 0]] * 3 + [[0, 0, 0, 1]])
np.fill_diagonal(TOGETHER, 1.0)


def sd(covariance):
    return np.sqrt(np.diag(covariance))


def calm(rounds):
    """So many rounds that do not vary."""
    return np.zeros((rounds, len(COSTS)))


def still(*rounds):
    """Sessions of so many rounds in which nothing moved."""
    return [np.tile(np.log(COSTS), (count, 1)) for count in rounds]


def noisy(rounds, sessions, seed=3, within=1.0, between=1.0):
    """Sessions drawn from the noise that is assumed, times a factor."""
    draw = np.random.default_rng(seed)
    together = TOGETHER

    def one(deviations, count):
        covariance = together * np.outer(deviations, deviations)
        return draw.multivariate_normal(np.zeros(4), covariance, size=count)

    return [np.log(COSTS) + one(between * SESSIONS, 1) + one(within * ROUNDS, rounds) for _ in range(sessions)]


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_a_baseline_whose_rounds_say_nothing_has_the_noise_that_is_known_beforehand(rounds):
    found = expected(still(rounds), PRIORS)
    assert np.exp(found.logs) == pytest.approx(COSTS)
    assert sd(found.rounds) == pytest.approx(ALONE)
    assert sd(found.sessions) == pytest.approx(SESSIONS)
    correlation = found.rounds / np.outer(ALONE, ALONE)
    assert correlation == pytest.approx(TOGETHER)
    assert (found.of_rounds, found.of_sessions, found.degrees) == (rounds, 1, noise.PRIOR_ROUNDS + rounds - 1)


def test_several_sessions_that_say_nothing_leave_what_is_known_of_rounds():
    assert sd(expected(still(5, 5), PRIORS).rounds) == pytest.approx(ROUNDS)


def test_one_round_has_no_noise_of_its_own():
    (one,) = noisy(1, 1)
    twice = expected([np.repeat(one, 2, axis=0)], PRIORS)  # the same costs, and no deviation either
    assert expected([one], PRIORS).rounds == pytest.approx(twice.rounds)


@pytest.mark.parametrize("within", [0.3, 3.0])
def test_many_rounds_outweigh_what_is_known_beforehand(within):
    few, many = (sd(expected(noisy(rounds, 1, within=within), PRIORS).rounds) / ROUNDS for rounds in (3, 500))
    assert many == pytest.approx(within, rel=0.15)
    assert (abs(np.log(few)) < abs(np.log(many))).all()


def steady(pairs_or_rounds, part, seed=4):
    """Deviations of operators that are known to stream, the first of which does so with a part of their noise."""
    sd_of = np.array([0.045 + 5 / 400, 0.045 + 5 / 400])
    return np.random.default_rng(seed).normal(size=(pairs_or_rounds, 2)) * sd_of * [part, 1.0]


STREAMS = np.array([400.0, 400.0])


def test_rounds_that_are_far_steadier_than_is_known_of_their_kind_are_believed():
    """As steady as what computes, and no steadier: their session's noise too."""
    found = expected([np.log(STREAMS) + steady(15, 0.01)], [STREAMING, STREAMING])
    known = expected([np.tile(np.log(STREAMS), (15, 1))], [STREAMING, STREAMING])
    assert sd(found.rounds)[0] < 0.25 * sd(known.rounds)[0]
    assert sd(found.rounds)[0] > 0.6 * ROUNDS[0]
    assert sd(found.sessions)[0] == pytest.approx(SESSIONS[0], rel=0.01)
    assert sd(found.sessions)[1] == pytest.approx(sd(known.sessions)[1], rel=0.01)


@pytest.mark.parametrize("rounds", [2, 3, 5])
def test_a_few_steady_rounds_contradict_nothing(rounds):
    found = expected([np.log(STREAMS) + steady(rounds, 0.05)], [STREAMING, STREAMING])
    assert sd(found.sessions) == pytest.approx(0.025 + 3 / 400, rel=0.01)


def test_what_is_known_is_contradicted_by_chance_in_one_baseline_of_a_hundred():
    limits = [
        noise.steadier_by(np.ones(200), np.zeros(200), np.random.default_rng(seed).normal(size=(n, 200)), n)
        for seed, n in enumerate((6, 8, 12, 30) * 40)
    ]
    for index in range(4):
        below = np.mean([(limit < 1).mean() for limit in limits[index::4]])
        assert 0.003 < below < 0.02


def test_what_computes_is_never_trusted_to_be_steadier_than_known():
    found = expected(noisy(15, 1, within=0.01), PRIORS)
    many = noise.PRIOR_ROUNDS / (noise.PRIOR_ROUNDS + 14)
    assert sd(found.rounds)[:2] == pytest.approx(ROUNDS[:2] * math.sqrt(many), rel=0.01)


def test_pairs_that_are_far_steadier_than_is_known_are_believed():
    found, known = (
        paired(steady(8, part), STREAMS, [STREAMING, STREAMING]).covariance for part in (0.01, 1.0)
    )  # fmt: skip
    assert sd(found)[0] < 0.3 * sd(known)[0]
    assert sd(found)[1] == pytest.approx(sd(known)[1])


@pytest.mark.parametrize("between", [0.3, 3.0])
def test_many_sessions_outweigh_what_is_known_of_sessions(between):
    """With hardly any noise within them, what is left is their own."""
    found = expected(noisy(3, 300, within=0.01, between=between), PRIORS)
    assert sd(found.sessions) / SESSIONS == pytest.approx(between, rel=0.2)
    assert np.exp(found.logs) == pytest.approx(COSTS, rel=0.02)


def test_rounds_are_compared_with_their_own_session():
    """What sessions differ by is no noise of rounds."""
    found = expected(noisy(100, 4, within=1.0, between=20.0), PRIORS)
    assert sd(found.rounds) / ROUNDS == pytest.approx(1.0, rel=0.2)
    assert (sd(found.sessions) / SESSIONS > 1.5).all()


def test_a_round_that_was_disturbed_as_a_whole_counts_as_so_far():
    sessions = noisy(9, 1)
    calm = sd(expected(sessions, PRIORS).rounds)
    sessions[0][4] += 5.0
    wild = sd(expected(sessions, PRIORS).rounds)
    limit = noise.FARTHEST * 2 * ROUNDS
    assert (wild > calm).all()
    assert (wild**2 - calm**2 < limit**2 / (noise.PRIOR_ROUNDS + 8) * 1.5).all()
    assert np.exp(expected(sessions, PRIORS).logs) == pytest.approx(COSTS, rel=0.1)


def test_a_session_that_was_disturbed_as_a_whole_counts_as_so_far():
    sessions = noisy(3, 8)
    calm = expected(sessions, PRIORS)
    sessions[2] += 5.0
    wild = expected(sessions, PRIORS)
    assert (sd(wild.sessions) < 3 * np.maximum(sd(calm.sessions), SESSIONS)).all()
    assert wild.logs == pytest.approx(calm.logs, abs=0.05)


def test_what_has_no_samples_of_its_own_is_not_taken_for_steady():
    sessions = noisy(5, 10)
    for session in sessions:
        session[:, 2] = np.log(COSTS[2])
    found = expected(sessions, PRIORS)
    assert sd(found.rounds)[2] == pytest.approx(ROUNDS[2])
    assert sd(found.sessions)[2] == pytest.approx(SESSIONS[2])
    seen = expected([session[:, [0, 1, 3]] for session in sessions], [COMPUTING, COMPUTING, DEVICE_COMPUTING])
    assert sd(found.rounds)[[0, 1, 3]] == pytest.approx(sd(seen.rounds))


@pytest.mark.parametrize(("rounds", "sessions"), [(1, 1), (2, 1), (5, 1), (1, 10), (3, 4)])
@pytest.mark.parametrize("within", [0.0, 1e-6, 1.0, 100.0])
def test_covariances_are_positive_definite(rounds, sessions, within):
    found = expected(noisy(rounds, sessions, within=within, between=within), PRIORS)
    for covariance in (found.rounds, found.sessions, found.covariance(calm(3))):
        assert (np.linalg.eigvalsh(covariance) > 0).all()
        assert covariance == pytest.approx(covariance.T)


def test_operators_that_always_move_together_leave_the_covariance_regular():
    one = np.random.default_rng(1).normal(0, 0.05, size=(50, 1))
    found = expected([np.log(COSTS) + one], PRIORS)
    assert (np.linalg.eigvalsh(found.rounds) > 0).all()


def test_the_figures_of_a_difference():
    found = expected(still(5), PRIORS)
    rounds, sessions = ALONE**2, SESSIONS**2
    assert np.diag(found.covariance(calm(1))) == pytest.approx(rounds * (1 + MEDIAN / 5) + 2 * sessions)
    assert np.diag(found.covariance(calm(2))) == pytest.approx(rounds * (1 / 2 + MEDIAN / 5) + 2 * sessions)
    assert np.diag(found.covariance(calm(3))) == pytest.approx(rounds * (MEDIAN / 3 + MEDIAN / 5) + 2 * sessions)


def test_more_rounds_and_more_sessions_narrow_it():
    one = sd(expected(still(1), PRIORS).covariance(calm(1)))
    five = sd(expected(still(5), PRIORS).covariance(calm(1)))
    again = sd(expected(still(5), PRIORS).covariance(calm(5)))
    later = sd(expected(still(5, 5, 5), PRIORS).covariance(calm(5)))
    assert (one > five).all()
    assert (five > again).all()
    assert (again > later).all()


def test_rounds_that_were_made_beside_each_other_share_their_session():
    found = expected(still(5), PRIORS)
    paired = found.covariance(calm(3), same_session=True)
    assert np.diag(paired) == pytest.approx(ALONE**2 * (MEDIAN / 3 + MEDIAN / 5))
    assert (sd(paired) < sd(found.covariance(calm(3)))).all()


def test_rounds_that_vary_more_than_is_known_vary_as_they_do():
    """What makes a step dearer does so in every round, a neighbour in some: then the median says little."""
    found = expected(still(5), PRIORS)
    known = np.diag(found.covariance(calm(4)))
    tails = calm(4)
    tails[:, 1] = ALONE[1] * np.array([-2.0, -2.0, 2.0, 2.0])
    more = np.diag(found.covariance(tails)) - known
    assert more[1] == pytest.approx((4 * 2.0**2 / 3 - 1) * ALONE[1] ** 2 * MEDIAN / 4)
    assert more[[0, 2, 3]] == pytest.approx([0, 0, 0])
    wild = calm(5)
    wild[0, 1] = 1.0  # one that was disturbed as a whole says nothing of the others
    assert np.diag(found.covariance(wild)) == pytest.approx(np.diag(found.covariance(calm(5))))
    within = calm(4)
    within[:, 1] = ALONE[1] * np.array([-1.5, -0.5, 0.5, 1.5])
    for rounds in (within, calm(4) + 0.3, tails[1:3]):
        assert np.diag(found.covariance(rounds)) == pytest.approx(np.diag(found.covariance(calm(len(rounds)))))


def test_rounds_as_noisy_as_is_known_count_as_noisier_one_time_in_twenty():
    draw = np.random.default_rng(3)
    for count in (3, 5, 12):
        noise_now = draw.normal(0, 0.05, size=(count, 4000))
        said = noise._unsteady(noise_now, np.full(4000, 0.05**2)) > 0
        assert said.mean() == pytest.approx(0.05, abs=0.012)


def test_the_median_of_rounds_varies_as_it_is_said_to():
    """Of normal noise a little more than that: the figure is of noise with heavier tails."""
    medians = np.median(np.random.default_rng(5).normal(size=(20_000, 5)), axis=1)
    assert medians.var() == pytest.approx(MEDIAN / 5, rel=0.2)


def test_a_cheap_operator_is_noisier_than_a_dear_one():
    cheap, dear = (float(COMPUTING.rounds.of(np.array([us]))[0]) for us in (1.0, 1000.0))
    assert (cheap, dear) == (pytest.approx(1.012), pytest.approx(0.013))


# Pairs


def differences(pairs, seed=1):
    """What pairs differ by, of operators with the noise that is known beforehand."""
    sd_of = np.array([prior.differences(in_turns=False).of(cost) for prior, cost in zip(PRIORS, COSTS)])
    return np.random.default_rng(seed).normal(size=(pairs, 4)) * sd_of, sd_of


def test_pairs_come_to_the_median_of_their_differences():
    off, _ = differences(5)
    found = paired(off, COSTS, PRIORS)
    assert found.moved == pytest.approx(np.median(off, axis=0))
    assert found.degrees == noise.PRIOR_ROUNDS + 4


def test_the_error_of_pairs_falls_with_their_number():
    (few, sd_of), (many, _) = differences(4), differences(400)
    assert (sd(paired(few, COSTS, PRIORS).covariance) > 5 * sd(paired(many, COSTS, PRIORS).covariance)).all()
    assert sd(paired(many, COSTS, PRIORS).covariance) == pytest.approx(sd_of * np.sqrt(MEDIAN / 400), rel=0.15)


def test_pairs_that_differ_by_more_than_is_known_are_believed():
    off, _ = differences(12)
    assert (sd(paired(2 * off, COSTS, PRIORS).covariance) > 1.2 * sd(paired(off, COSTS, PRIORS).covariance)).all()


def test_pairs_that_share_nothing_are_marked():
    off, sd_of = differences(40)
    off[:, 1] = np.random.default_rng(2).normal(size=40) * 4 * sd_of[1]
    assert paired(off, COSTS, PRIORS).unlike.tolist() == [False, True, False, False]


def test_what_pairs_show_of_their_scatter_falls_with_their_number():
    (few, sd_of), (many, _) = differences(12), differences(400)
    seen, better = (paired(one, COSTS, PRIORS, processes=[1] * len(one)).scatter for one in (few, many))
    assert (seen > 10 * better).all()
    assert np.sqrt(better) == pytest.approx(sd_of * np.sqrt(MEDIAN / 400), rel=0.25)
    assert np.isinf(paired(few[:8], COSTS, PRIORS, processes=[4, 4]).scatter).all()


def test_repetitions_of_a_process_that_differ_alike_are_one_in_the_scatter():
    off, _ = differences(10)
    alike, apart = np.repeat(off, 4, axis=0), differences(40)[0]
    as_one, as_four = (paired(one, COSTS, PRIORS, processes=[4] * 10).scatter for one in (alike, apart))
    each, single = (paired(one, COSTS, PRIORS, processes=[1] * 40).scatter for one in (alike, apart))
    assert (as_one > 1.5 * each).all()
    assert (single <= as_four).all()
    assert (as_four < 3 * single).all()  # of ten processes one is less sure than of forty
    assert (as_four < as_one).all()


def test_pairs_of_the_same_processes_that_are_off_alike_are_less_certain():
    """Four of nine processes make four pairs each, the others one: their mean is 1.8 times as uncertain; what is known
    beforehand is that it is not."""
    made = [1] * 5 + [4] * 4

    def more(off):
        alone, known = (sd(paired(off, COSTS, PRIORS, processes=one).covariance) for one in ([1] * len(off), made))
        return known / alone

    alike = np.mean([more(np.repeat(differences(9, seed)[0], made, axis=0)) for seed in range(40)], axis=0)
    apart = np.mean([more(differences(21, seed)[0]) for seed in range(40)], axis=0)
    assert ((alike > 1.2) & (alike < 1.8)).all()
    assert ((apart >= 1.0) & (apart < 1.1)).all()


def test_pairs_each_of_processes_of_its_own_are_as_certain_as_if_nobody_knew():
    off, _ = differences(9)
    assert (paired(off, COSTS, PRIORS).covariance == paired(off, COSTS, PRIORS, processes=[1] * 9).covariance).all()


def test_the_places_that_a_device_s_rounds_draw_are_not_in_the_difference_of_pairs():
    for prior in (DEVICE_COMPUTING, noise.DEVICE_STREAMING):
        assert prior.differences(in_turns=False).of(np.array(100.0)) < 0.5 * math.sqrt(2) * prior.rounds.of(
            np.array(100.0)
        )
    assert COMPUTING.differences(in_turns=False).of(np.array(100.0)) == pytest.approx(math.sqrt(2) * 0.022)


class TestPairsInTurns:
    def test_less_is_expected_of_them_on_a_host_and_the_same_on_a_device(self):
        off, _ = differences(FEWEST_TO_AGREE)
        less = sd(paired(off * 0, COSTS, PRIORS, in_turns=True).covariance)
        more = sd(paired(off * 0, COSTS, PRIORS).covariance)
        assert (less[:3] < 0.8 * more[:3]).all()
        assert less[3] == more[3]

    def test_where_they_agree_the_error_is_that_of_their_mean_but_for_the_farthest(self):
        off = np.array([0.04, 0.05, 0.06, 0.05, 0.04, 0.06, 0.05, 0.9])
        assert least_error(off, [1] * len(off), 0.05, 1.0) == pytest.approx(
            off[:7].std(ddof=1) * math.sqrt((1 + ALIKE / 6) / 7)
        )

    def test_processes_count_by_the_pairs_that_they_made(self):
        """One that made four weighs as much as four that found the same, and their agreement is of fewer."""
        of_each = np.array([0.04, 0.05, 0.06, 0.05, 0.04, 0.06, 0.05, 0.9])
        made = [4, 1, 1, 1, 4, 1, 1, 1]
        every = np.repeat(of_each, made)
        mean = np.average(of_each[:7], weights=made[:7])
        variance = (np.array(made[:7]) * (of_each[:7] - mean) ** 2).sum() / 6 / sum(made[:7])
        found = least_error(every, made, 0.05, 1.0)
        assert found == pytest.approx(math.sqrt(variance * (1 + ALIKE / 6)))
        assert least_error(every, [1] * len(every), 0.05, 1.0) < found

    @pytest.mark.parametrize("apart", [1.0, 0.001])
    def test_a_few_that_agree_raise_a_suspicion_or_are_as_certain_as_they_would_be_apart(self, apart):
        off = np.array([0.04, 0.05, 0.06, 0.05, 0.9])
        own = off[:4].std(ddof=1) * math.sqrt((1 + ALIKE / 3) / 4)
        least = 0.05 / DOUBTFUL if apart == 1 else own
        assert least_error(off, [1] * len(off), 0.05, apart) == pytest.approx(least)

    @pytest.mark.parametrize(("count", "certain"), [(8, False), (9, False), (10, True), (12, True)])
    def test_on_a_device_one_that_dissents_from_a_few_leaves_a_suspicion(self, count, certain):
        off = np.array([0.05, 0.051] * (count // 2) + [0.05] * (count % 2))
        agree = least_error(off, [1] * count, 0.05, 1.0, on_device=True)
        off[1] = -0.001
        assert agree < 0.001
        assert least_error(off, [1] * count, 0.05, 1.0) < 0.001
        assert least_error(off, [1] * count, 0.05, 1.0, on_device=True) == pytest.approx(
            agree if certain else 0.05 / DOUBTFUL, rel=0.2
        )

    @pytest.mark.parametrize("count", [8, 9, 12])
    def test_two_that_dissent_leave_none(self, count):
        off = np.array([-0.001, -0.001] + [0.05] * (count - 2))
        for on_device in (False, True):
            assert least_error(off, [1] * count, 0.05, 1.0, on_device=on_device) == 1

    def test_two_of_them_tell_nothing_certain(self):
        assert least_error(np.array([0.3, 0.31]), [1, 1], 0.3, 0.01) == pytest.approx(0.3 / DOUBTFUL)

    @pytest.mark.parametrize("by", [0.05, -0.05])
    def test_where_two_of_them_do_not_show_the_change_it_is_what_it_would_be_apart(self, by):
        off = np.array([1.0, 1.1, 0.9, -0.1, -0.1]) * by
        assert least_error(off, [1] * len(off), by, 1.0) == 1.0
        assert least_error(off, [1] * len(off), 10 * by, 0.001) == pytest.approx(10 * abs(by) / DOUBTFUL)
