"""Which of several correlated figures moved by themselves; simulations have seeded generators."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

import numpy as np  # only where there is one

from pytest_opcost.judge.timing import shift
from pytest_opcost.judge.timing.shift import FREE, shifts

SD = np.array([0.01, 0.01, 0.02, 0.02, 0.03, 0.05, 0.01, 0.02])


def covariance(correlation=0.6, sd=SD):
    together = np.full((len(sd), len(sd)), correlation)
    np.fill_diagonal(together, 1.0)
    return together * np.outer(sd, sd)


def moved(**by):
    figures = np.zeros(len(SD))
    for name, value in by.items():
        figures[int(name[1:])] = value
    return figures


def scores(figures, of=None):
    return [one.by / one.error for one in shifts(figures, covariance() if of is None else of)]


def test_nothing_moved():
    assert [one.by for one in shifts(moved(), covariance())] == [0] * len(SD)


@pytest.mark.parametrize("which", range(len(SD)))
@pytest.mark.parametrize("by", [0.5, -0.5])
def test_the_one_that_moved_is_found_and_its_neighbours_are_left_where_they_are(which, by):
    found = shifts(moved(**{f"f{which}": by}), covariance())
    assert found[which].by == pytest.approx(by)
    assert [one.by for i, one in enumerate(found) if i != which] == pytest.approx([0] * 7)


def test_two_that_moved_are_found_in_either_direction():
    found = shifts(moved(f1=0.4, f4=-0.5), covariance())
    assert [one.by for one in found] == pytest.approx([0, 0.4, 0, 0, -0.5, 0, 0, 0])


def test_what_all_did_together_is_nobody_s():
    """As far apart as their noise is: what a neighbour on the machine does."""
    assert max(map(abs, scores(2 * SD))) < FREE
    equal = np.full(8, 0.02)
    own = scores(np.full(8, 0.04), covariance(0.6, equal))
    alone = 0.04 / 0.02
    assert max(map(abs, own)) < alone / 2


def test_half_of_them_moved():
    """There is a half that stayed: the half that is told is the one that moved less than its noise explains."""
    found = shifts(moved(f0=0.4, f2=0.4, f4=0.4, f6=0.4), covariance())
    assert [one.by for one in found] == pytest.approx([0.4, 0, 0.4, 0, 0.4, 0, 0.4, 0])


def test_never_more_than_half_are_freed(monkeypatch):
    """Where more moved, what is kept is explained by others of which some moved too."""
    kept, given = [], shift._given_the_others

    def counting(figures, of):
        kept.append(len(figures))
        return given(figures, of)

    monkeypatch.setattr(shift, "_given_the_others", counting)
    found = shifts(moved(f0=0.3, f1=-0.4, f2=0.5, f3=-0.6, f4=0.7, f5=-0.8), covariance())
    assert kept == [8, 7, 6, 5, 4]
    assert all(np.isfinite([one.by, one.error]).all() and one.error > 0 for one in found)
    assert found[4].by > 0 > found[5].by
    kept.clear()
    shifts(np.array([1.0, -1.0, 2.0]), covariance(sd=SD[:3]))
    assert kept == [3, 2]


def test_noise_that_others_have_too_is_explained_by_them():
    """A figure that goes with its neighbours did nothing; one that stays behind them did."""
    together = 2.4 * SD
    assert abs(scores(together)[5]) < 1
    behind = together.copy()
    behind[5] = 0.0
    assert scores(behind)[5] < -1.5
    # Without correlation the same figures say the opposite.
    alone = covariance(0.0)
    assert scores(together, alone)[5] == pytest.approx(2.4)
    assert scores(behind, alone)[5] == 0


def test_correlation_makes_errors_smaller_and_none_of_it_leaves_them_alone():
    errors = [one.error for one in shifts(moved(), covariance())]
    assert all(error < 0.8 * sd for error, sd in zip(errors, SD))
    assert [one.error for one in shifts(moved(), covariance(0.0))] == pytest.approx(SD)


def test_one_figure_alone():
    (found,) = shifts(np.array([0.3]), np.array([[0.0004]]))
    assert (found.by, found.error) == (pytest.approx(0.3), pytest.approx(0.02))


@pytest.mark.parametrize("true", [0.0, 0.4, -0.4])
def test_an_estimate_is_unbiased_and_its_standard_error_is_right(true):
    """Against a simulation: what is estimated of a figure that moved so far, beside seven that did not."""
    draws, which = 3000, 2
    noise = np.random.default_rng(7).multivariate_normal(np.zeros(len(SD)), covariance(), size=draws)
    found = [shifts(row + moved(**{f"f{which}": true}), covariance())[which] for row in noise]
    by = np.array([one.by for one in found])
    expected = shifts(moved(**{f"f{which}": true}), covariance())[which].error
    assert by.mean() == pytest.approx(true, abs=4 * expected / draws**0.5)
    # A neighbour that was freed by chance explains nothing: errors are a little larger then.
    assert np.mean([one.error for one in found]) == pytest.approx(expected, rel=0.02)
    assert by.std() == pytest.approx(expected, rel=0.05)


def test_clean_figures_are_seldom_far_off():
    draws = 1000
    noise = np.random.default_rng(11).multivariate_normal(np.zeros(len(SD)), covariance(), size=draws)
    far = sum(max(map(abs, scores(row))) > 5 for row in noise)
    assert far <= 1
