"""`--opcost-update-baselines` and `--opcost-update-missing`: what they write, say and leave alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from .project import summary, told

if TYPE_CHECKING:
    from .project import Project


def test_update_switches_opcost_on_writes_and_says_what_changed(project: Project) -> None:
    before = project.record()
    project.lenet(addmm=[2000.0, 2], copy_=None, add=400.0)

    result = project.run("--opcost-update-baselines")

    result.assert_outcomes(passed=1)
    text = told(result)
    assert "opcost: record every measured test anew" in text
    assert "step total +10 %; conv/addmm 4 -> 2; new: aten::add; gone: aten::copy_; aten::addmm +100 %" in text
    assert project.files().keys() == before.keys()
    assert project.files() != before
    project.run("--opcost").assert_outcomes(passed=1)


def test_what_changed_in_the_file_is_what_changed_in_the_step(project: Project) -> None:
    (before,) = project.record().values()
    project.lenet(gelu=[1000.0, 3], _log_softmax=1500.0)

    (after,) = project.record().values()

    was, now = ({op["op"]: op["self_host_us"] for op in yaml.safe_load(text)["ops"]} for text in (before, after))
    assert {name for name in was if was[name] != now[name]} == {"aten::gelu", "aten::_log_softmax"}


def test_a_ratio_that_reads_the_same_is_no_change(project: Project) -> None:
    project.record()
    project.lenet(addmm=[1000.1, 2], gelu=[1600.0, 3])

    result = project.run("--opcost-update-baselines")

    assert "step total +1.0 %; aten::gelu +6.7 %" in told(result)


def test_updating_the_same_figures_changes_nothing(project: Project) -> None:
    before = project.record()

    assert project.record() == before


@pytest.mark.parametrize("option", ["--opcost-update-baselines", "--opcost-update-missing"])
def test_an_update_option_does_not_swallow_the_test_path(project: Project, option: str) -> None:
    project.checks("test_other")

    result = project.run(option, "test_more.py")

    result.assert_outcomes(passed=1)
    (path,) = project.files()
    assert path.name.startswith("test_more.py-test_other-")


def test_opcost_itself_does_not_swallow_the_test_path(project: Project) -> None:
    project.checks("test_other")

    project.run("--opcost", "test_more.py").assert_outcomes(passed=1)


@pytest.mark.parametrize("subset", [["test_more.py::test_one"], ["-k", "test_one"]], ids=["id", "-k"])
def test_updating_a_subset_leaves_every_other_file_byte_identical(project: Project, subset: list[str]) -> None:
    project.checks("test_one", "test_two")
    before = project.record()
    project.lenet(addmm=[5000.0, 2])

    project.run("--opcost-update-baselines", *subset).assert_outcomes(passed=1, deselected=2 if "-k" in subset else 0)

    after = project.files()
    assert after.keys() == before.keys()
    (changed,) = (path for path in before if after[path] != before[path])
    assert changed.name.startswith("test_more.py-test_one-")


def test_update_missing_writes_new_ones_and_compares_the_rest(project: Project) -> None:
    before = project.record()
    project.checks("test_new")
    project.lenet(addmm=[1010.0, 2])

    result = project.run("--opcost-update-missing")

    result.assert_outcomes(passed=2)
    after = project.files()
    assert {path: after[path] for path in before} == before
    (new,) = after.keys() - before.keys()
    assert new.name.startswith("test_more.py-test_new-")
    assert "opcost: 1 passed, 1 recorded" in summary(result)
    assert "opcost: compare, and record what is missing" in told(result)


def test_update_missing_still_fails_what_drifted(project: Project) -> None:
    before = project.record()
    project.lenet(addmm=[2000.0, 2])

    project.run("--opcost-update-missing").assert_outcomes(failed=1)

    assert project.files() == before


def test_a_drift_is_not_written_unless_it_was_asked_for(project: Project) -> None:
    before = project.record()
    project.lenet(addmm=[2000.0, 2])

    project.run("--opcost").assert_outcomes(failed=1)

    assert project.files() == before


def test_a_test_that_fails_after_its_check_is_recorded_all_the_same(project: Project) -> None:
    """The baseline is the check's; what the test does besides is its own affair."""
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step)\n    assert False\n")

    project.run("--opcost-update-baselines").assert_outcomes(failed=1)

    assert len(project.files()) == 1


def test_no_half_written_file_is_left_behind(project: Project) -> None:
    project.record()

    assert [path.suffix for path in project.files()] == [".yaml"]


def test_a_baseline_can_be_read_by_the_team(project: Project) -> None:
    (path,) = project.record()

    assert path.stat().st_mode & 0o777 == 0o644
