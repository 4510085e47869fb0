"""A core that is shared with a neighbour: what then fails, what is told, and what is recorded."""

from __future__ import annotations

import pytest
import yaml

from .fake_seam import LENET
from .project import Project, failure, summary, told

SLOW = {**LENET, "aten::gelu": [2200.0, 3], "aten::addmm": [1200.0, 2], "aten::max_pool2d_with_indices": 2600.0}
DEARER = {**LENET, "aten::gelu": [2200.0, 3]}


@pytest.fixture
def recorded(project: Project) -> Project:
    """A baseline of a core of our own."""
    project.costs(pace_us=5.0)
    project.record()
    return project


def test_what_a_neighbour_makes_dearer_does_not_fail(recorded: Project) -> None:
    recorded.costs(SLOW, pace_us=7.0)

    result = recorded.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 inconclusive" in summary(result)
    assert "a neighbour shared the core: fixed code took 40 % longer, so that only large changes are seen" in told(
        result
    )


def test_the_same_on_a_core_of_our_own_fails(recorded: Project) -> None:
    recorded.costs(SLOW, pace_us=5.1)

    result = recorded.run("--opcost")

    result.assert_outcomes(failed=1)
    assert "aten::gelu" in failure(result)


def test_a_drift_is_found_in_the_rounds_between_a_neighbours_spells(recorded: Project) -> None:
    recorded.costs(DEARER, pace_us=[5.0, 5.0, 7.0, 7.1, 5.0, 7.0, 5.0, 5.1, 5.0])

    result = recorded.run("--opcost")

    result.assert_outcomes(failed=1)
    assert "measured 9 times" in failure(result)


def test_a_neighbour_who_goes_costs_one_measurement_more(recorded: Project) -> None:
    recorded.costs(pace_us=[7.0, 5.0])

    result = recorded.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 passed" in summary(result)
    assert len(recorded.seam.calls) == 2


def test_a_change_far_beyond_what_a_neighbour_does_fails_all_the_same(recorded: Project) -> None:
    recorded.costs({**LENET, "aten::gelu": [60000.0, 3]}, pace_us=7.0)

    recorded.run("--opcost").assert_outcomes(failed=1)


def test_a_baseline_is_made_of_calm_rounds(project: Project) -> None:
    project.costs(pace_us=[5.0, 7.0, 5.0, 7.2, 5.1, 5.0, 7.0, 5.0, 5.0])

    (text,) = project.record().values()

    document = yaml.safe_load(text)
    assert (document["step"]["pace_us"], document["sessions"][0]["rounds"]) == (5.0, 5)


def test_where_no_round_is_calm_for_long_all_are_kept(project: Project) -> None:
    project.costs(pace_us=[5.0, 5.0, *[7.0] * 20])

    (text,) = project.record().values()

    document = yaml.safe_load(text)
    assert (document["step"]["pace_us"], document["sessions"][0]["rounds"]) == (7.0, 7)


def test_a_baseline_of_a_shared_core_says_that_it_is_to_be_recorded_anew(project: Project) -> None:
    project.costs(SLOW, pace_us=7.0)
    project.record()
    project.costs(pace_us=5.0)

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "the baseline was made on a shared core: fixed code took 40 % longer then, so record it anew" in told(result)


def test_rounds_of_a_shared_core_are_not_added(recorded: Project) -> None:
    before = recorded.files()
    recorded.costs(pace_us=7.0)

    result = recorded.run("--opcost-add-rounds")

    result.assert_outcomes(passed=1)
    assert recorded.files() == before
    assert "no round was added, since none was as calm as the baseline's" in told(result)
