"""From how many standard errors on a change is certain."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy")

from records import step
from scipy import stats  # only where there is one

from pytest_opcost.judge.timing.change import Change, Changes
from pytest_opcost.judge.timing.critical import FALSE_ALARMS, critical_score


def compared(operators, ratios=0, degrees=14):
    one = Change("aten::mm", "addmm", 1.0, 1.0, 0.0, 0.1, 0.01, 0.5)
    return Changes((one,) * operators, (one,) * ratios, 1.0, degrees, step())


@pytest.mark.parametrize("degrees", [1, 4, 14, 60, 1000])
@pytest.mark.parametrize(("operators", "ratios", "tests"), [(1, 0, 1), (6, 1, 1), (6, 1, 20), (30, 4, 400)])
def test_it_is_student_s_quantile_with_the_error_rate_shared_out(degrees, operators, ratios, tests):
    found = critical_score(compared(operators, ratios, degrees), tests)
    assert found == pytest.approx(stats.t.isf(FALSE_ALARMS / ((operators + ratios) * tests), degrees))


def test_it_is_shared_out_among_all_figures_of_all_tests():
    assert critical_score(compared(20), 1) == critical_score(compared(5), 4) == critical_score(compared(10, 10), 1)


def test_the_more_is_compared_the_less_is_certain_and_the_more_is_known_the_more():
    one, more, known = (critical_score(*args) for args in ((compared(5), 1), (compared(5), 9), (compared(5, 0, 60), 1)))
    assert known < one < more


def test_many_degrees_come_close_to_the_normal_distribution():
    assert critical_score(compared(1, 0, 10**6), 1) == pytest.approx(stats.norm.isf(FALSE_ALARMS), rel=1e-3)


def test_nothing_compared_has_a_finite_score():
    assert 0 < critical_score(Changes((), (), 1.0, 0, step()), 1) < 1000
