"""`--opcost-update-baselines` and `--opcost-update-missing`: what they write, say and leave alone."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest
import yaml

from .project import failures, summary, told

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


@pytest.mark.parametrize(
    "options", [("--opcost-batch-size=4",), ("--opcost-baselines=in/another folder", "--opcost-batch-size=4,16")]
)
def test_the_command_that_a_failure_prints_accepts_it(project: Project, options: tuple[str, ...]) -> None:
    project.write("test_model.py", "def test_model(opcost, opcost_batch_size, step):\n    opcost.check(step)\n")
    project.lenet()
    project.record(*options)
    project.lenet(addmm=[2000.0, 2])
    message = failures(project.run("--opcost", *options))[0]
    file = next(project.path.glob("**/*-4-*.yaml"))

    (command,) = re.findall(r"accept it: pytest (.*\S)", message.replace("\n", " "))
    assert f"# Accept new figures with: pytest {command}\n" in file.read_text("utf-8")
    words = shlex.split(command)
    assert words[0] == "test_model.py::test_model[4]"
    project.run(*words).assert_outcomes(passed=1)

    project.run("--opcost", *options, "-k", "4").assert_outcomes(passed=1, deselected=len(options) - 1)


def test_what_changed_in_the_file_is_what_changed_in_the_step(project: Project) -> None:
    (before,) = project.record().values()
    project.lenet(gelu=[1000.0, 3], _log_softmax=1500.0)

    (after,) = project.record().values()

    was, now = ({op["op"]: op["self_host_us"] for op in yaml.safe_load(text)["ops"]} for text in (before, after))
    assert {name for name in was if was[name] != now[name]} == {"aten::gelu", "aten::_log_softmax"}


def test_a_ratio_that_reads_the_same_is_no_change(project: Project) -> None:
    project.record()
    project.lenet(addmm=[1000.1, 2], gelu=[1800.0, 3])

    result = project.run("--opcost-update-baselines")

    assert "step total +3.0 %; aten::gelu +20 %" in told(result)


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


_TWO_CHECKS = """
def test_model(opcost, step):
    opcost.check(step, name="prefill")
    opcost.check(step, name="decode")
    {}
"""


@pytest.mark.parametrize("option", ["--opcost-update-baselines", "--opcost-update-missing", "--opcost"])
def test_of_a_test_that_fails_nothing_is_written_and_that_is_said(project: Project, option: str) -> None:
    """Its baselines would be half of them, or of a step that does something wrong."""
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step)\n    assert False\n")

    result = project.run(option)

    result.assert_outcomes(failed=1)
    assert project.files() == {}
    assert "not judged test_model.py::test_model" in told(result)
    assert ".yaml: not written, since the test failed" in told(result)
    assert "opcost: 1 not judged" in summary(result)
    assert "belong in git" not in told(result)
    assert "nothing was judged" not in told(result)


def test_an_update_that_fails_leaves_what_was(project: Project) -> None:
    project.write("test_model.py", _TWO_CHECKS.format("assert True"))
    before = project.record()
    project.write("test_model.py", _TWO_CHECKS.format("assert not step"))
    project.lenet(addmm=[2000.0, 2])

    result = project.run("--opcost-update-baselines")

    assert len(before) == 2
    assert project.files() == before
    assert told(result).count("not written, since the test failed") == 2


def test_a_check_that_drifts_keeps_the_other_one_from_being_recorded(project: Project) -> None:
    before = project.record()
    project.write(
        "test_model.py",
        "def test_model(opcost, step):\n    opcost.check(step, name='new')\n    opcost.check(step)\n",
    )
    project.lenet(addmm=[2000.0, 2])

    result = project.run("--opcost-update-missing")

    result.assert_outcomes(failed=1)
    assert project.files() == before
    assert "not written, since the test failed" in told(result)
    assert "opcost: 1 drifted, 1 not judged" in summary(result)


def test_a_test_whose_fixture_fails_at_its_end_has_failed(project: Project) -> None:
    project.write(
        "test_model.py",
        """
import pytest


@pytest.fixture
def model():
    yield
    raise RuntimeError("no end")


def test_model(opcost, step, model):
    opcost.check(step)
""",
    )

    result = project.run("--opcost-update-baselines")

    result.assert_outcomes(passed=1, errors=1)
    assert project.files() == {}
    assert "not written, since the test failed" in told(result)


def test_other_tests_are_written_though_one_fails(project: Project) -> None:
    project.write(
        "test_more.py",
        "import pytest\n\n\n"
        "def test_fails(opcost, step):\n    opcost.check(step)\n    assert False\n\n\n"
        "@pytest.mark.xfail\ndef test_is_known_to(opcost, step):\n    opcost.check(step)\n    assert False\n",
    )

    project.run("--opcost-update-baselines").assert_outcomes(passed=1, failed=1, xfailed=1)

    assert sorted(path.name[:-14] for path in project.files()) == [
        "test_model.py-test_model",
        "test_more.py-test_is_known_to",
    ]


def test_no_half_written_file_is_left_behind(project: Project) -> None:
    project.record()

    assert [path.suffix for path in project.files()] == [".yaml"]


def test_a_baseline_can_be_read_by_the_team(project: Project) -> None:
    (path,) = project.record()

    assert path.stat().st_mode & 0o777 == 0o644
