from __future__ import annotations

import pytest
from records import baseline

from pytest_opcost import rendering, storage
from pytest_opcost.baselines import baseline_path
from pytest_opcost.stale import stale_baselines
from pytest_opcost.storage import stored_tests


@pytest.fixture
def project(tmp_path):
    """A project with two test files and one that is gone; baselines are kept by `remember`."""
    for name in ("tests/test_a.py", "tests/deep/test_b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def remember(project, test, machine="m"):
    path = baseline_path(project / "baselines", machine, test, None)
    storage.write(path, rendering.render(baseline(test=test), 1))
    return path


def stale(project, collected=(), whole=("tests",), options=()):
    """What is stale; tests in `options` have their parameters from opcost's own options."""
    return looked_at(project, collected, whole, options)[0]


def looked_at(project, collected=(), whole=("tests",), options=()):
    """What is stale, and what cannot be told."""
    tests = {**dict.fromkeys(collected, False), **dict.fromkeys(options, True)}
    stored = dict(stored_tests(project / "baselines"))
    return stale_baselines(stored, project, tests, [project / path for path in whole])


def test_a_test_whose_file_is_gone(project):
    path = remember(project, "tests/test_gone.py::test_x")
    assert stale(project) == [path]
    assert stale(project, whole=()) == [path]


def test_a_test_that_was_collected_is_not_stale(project):
    remember(project, "tests/test_a.py::test_x[a]")
    assert stale(project, ["tests/test_a.py::test_x[a]"]) == []


def test_a_test_that_is_gone_from_a_file_that_was_collected_whole(project):
    path = remember(project, "tests/test_a.py::test_x")
    assert stale(project, ["tests/test_a.py::test_y"]) == [path]
    assert stale(project, ["tests/test_a.py::test_y"], whole=["tests/test_a.py"]) == [path]


def test_a_parameter_that_is_gone(project):
    path = remember(project, "tests/test_a.py::test_x[old]")
    assert stale(project, ["tests/test_a.py::test_x[new]"]) == [path]


def test_parameters_that_follow_the_options_may_come_back(project):
    remember(project, "tests/test_a.py::test_x[cuda-64]")
    assert stale(project, options=["tests/test_a.py::test_x[cpu-1]"]) == []


def test_another_function_of_the_file_is_no_excuse(project):
    path = remember(project, "tests/test_a.py::test_xy[cuda-64]")
    assert stale(project, options=["tests/test_a.py::test_x[cpu-1]"]) == [path]


def test_a_file_of_which_nothing_was_collected_may_hold_the_test(project):
    remember(project, "tests/deep/test_b.py::test_x")
    assert stale(project, ["tests/test_a.py::test_y"]) == []


@pytest.mark.parametrize("whole", [(), ("tests/deep",), ("tests/test_a",)])
def test_a_file_that_was_not_collected_whole_may_hold_the_test(project, whole):
    remember(project, "tests/test_a.py::test_x")
    assert stale(project, ["tests/test_a.py::test_y"], whole=whole) == []


def test_all_machines_baselines_are_looked_at(project):
    paths = [remember(project, "tests/test_gone.py::test_x", machine) for machine in ("m1", "m2")]
    assert stale(project) == paths


def test_files_that_are_no_baselines_are_never_stale(project):
    (project / "baselines" / "m").mkdir(parents=True)
    (project / "baselines" / "m" / "other.yaml").write_text("tests: 3\n", encoding="utf-8")
    assert stale(project) == []


def test_what_cannot_be_told_is_neither_stale_nor_known(project):
    gone = remember(project, "tests/test_gone.py::test_x")
    there, also_there = "tests/test_a.py::test_x", "tests/test_a.py::test_sizes"
    for test in (there, f"{also_there}[cpu-1]"):
        remember(project, test)
    other = remember(project, "tests/deep/test_b.py::test_x")
    old = remember(project, "tests/test_a.py::test_old")
    options = [f"{also_there}[cpu-2]"]

    assert looked_at(project, [there], options=options) == ([old, gone], [other])
    assert looked_at(project, [there], (), options) == ([gone], [other, old])
