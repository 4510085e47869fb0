"""Baselines whose test is gone are listed, and removed on demand only."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from .project import told

if TYPE_CHECKING:
    from pathlib import Path

    from .project import Project

_LISTED = "stale baselines, whose test no longer exists"
_NOT_LOOKED_AT = "not looked at"
_ALL = "Look at all of them: pytest --opcost-prune-baselines"


@pytest.fixture
def gone(project: Project) -> Path:
    """The baseline of a test that has since been removed from its file, beside two whose tests are there."""
    project.checks("test_stays", "test_goes")
    project.record()
    project.checks("test_stays")
    (path,) = (path for path in project.files() if "test_goes" in path.name)
    return path


def test_a_baseline_whose_test_is_gone_is_listed_and_kept(project: Project, gone: Path) -> None:
    before = project.files()

    result = project.run("--opcost")

    assert result.ret == 0
    assert f"{_LISTED} (remove them with --opcost-prune-baselines): {gone.relative_to(project.path)} " in told(result)
    assert told(result).count(".yaml") == 1
    assert project.files() == before


def test_updating_removes_no_baseline(project: Project, gone: Path) -> None:
    project.run("--opcost-update-baselines")

    assert gone.exists()


def test_prune_removes_it_and_nothing_else(project: Project, gone: Path) -> None:
    before = project.files()

    result = project.run("--opcost", "--opcost-prune-baselines")

    assert result.ret == 0
    assert f"{_LISTED} (removed): {gone.relative_to(project.path)} " in told(result)
    assert before.keys() - project.files().keys() == {gone}


def test_prune_by_itself_measures_nothing(project: Project, gone: Path) -> None:
    result = project.run("--opcost-prune-baselines")

    assert result.ret == 0
    assert project.seam.calls == []
    assert not gone.exists()
    assert len(project.files()) == 2


def test_a_baseline_whose_file_is_gone_is_stale_too(project: Project) -> None:
    project.checks("test_goes")
    project.record()
    (project.path / "test_more.py").unlink()

    assert "test_more.py-test_goes-" in told(project.run("--opcost")).partition(_LISTED)[2]


def test_baselines_of_other_machines_are_looked_at_too(project: Project, gone: Path) -> None:
    other = project.path / "baselines" / "cpu-chip-z-1-thread-torch2.9" / gone.name
    other.parent.mkdir()
    other.write_text(gone.read_text())

    project.run("--opcost-prune-baselines")

    assert not other.exists()


@pytest.mark.parametrize(
    ("subset", "left_alone"),
    [
        (["test_more.py::test_stays"], 2),
        (["test_model.py"], 2),
        # What is deselected was collected, so that all is known.
        (["-k", "test_model"], 0),
        (["-k", "nothing_at_all"], 0),
        (["-m", "not opcost", "test_model.py"], 2),
        (["--deselect", "test_more.py::test_stays", "test_model.py"], 2),
        (["--ignore", "test_more.py"], 2),
    ],
    ids=str,
)
def test_a_run_of_a_subset_knows_nothing_of_the_rest_and_says_so(
    project: Project, subset: list[str], left_alone: int
) -> None:
    project.checks("test_stays", "test_other")
    before = project.record()

    result = project.run("--opcost", "--opcost-prune-baselines", *subset)

    assert _LISTED not in told(result)
    assert project.files() == before
    line = f"{left_alone} baselines not looked at: their files were not collected, or not whole. {_ALL}"
    assert (line in told(result), _NOT_LOOKED_AT in told(result)) == (left_alone > 0, left_alone > 0)


def test_what_is_left_alone_is_told_only_to_who_prunes(project: Project, gone: Path) -> None:
    assert _NOT_LOOKED_AT not in told(project.run("--opcost", "test_model.py"))
    assert _NOT_LOOKED_AT not in told(project.run("--opcost", "--opcost-prune-baselines"))


def test_with_xdist_nothing_is_known_and_that_is_told(project: Project, gone: Path) -> None:
    pytest.importorskip("xdist")
    project.installs_its_own_seam()

    result = project.pytester.run(sys.executable, "-m", "pytest", "--opcost", "--opcost-prune-baselines", "-n", "1")

    assert gone.exists()
    assert (
        "3 baselines not looked at: only the workers of pytest-xdist know what they collected. "
        "Look at all of them: pytest --opcost-prune-baselines -n 0"
    ) in told(result)


def test_deselecting_reports_nothing_stale_in_a_file_collected_whole(project: Project) -> None:
    project.checks("test_stays", "test_other")
    before = project.record()

    result = project.run("--opcost", "--opcost-prune-baselines", "-k", "test_stays")

    result.assert_outcomes(passed=1, deselected=2)
    assert project.files() == before


def test_one_test_id_does_not_make_its_neighbours_stale_but_its_file_named_too_does(
    project: Project, gone: Path
) -> None:
    assert _LISTED not in told(project.run("--opcost", "test_more.py::test_stays"))
    assert _LISTED in told(project.run("--opcost", "test_more.py"))


def test_last_failed_reports_nothing_stale(project: Project) -> None:
    project.checks("test_one", "test_two")
    before = project.record()
    project.lenet(test="test_one", addmm=[3000.0, 2])
    project.run("--opcost").assert_outcomes(passed=2, failed=1)

    result = project.run("--opcost", "--lf", "--opcost-prune-baselines")

    result.assert_outcomes(failed=1)
    assert f"2 baselines not looked at: --lf leaves tests out. {_ALL}" in told(result)
    assert _LISTED not in told(result)
    assert project.files() == before


def test_a_file_that_cannot_be_collected_makes_nothing_stale(project: Project) -> None:
    project.checks("test_one")
    before = project.record()
    project.write("test_more.py", "def test_one(:\n")

    result = project.run("--opcost", "--opcost-prune-baselines")

    result.assert_outcomes(errors=1)
    assert f"1 baseline not looked at: not everything could be collected. {_ALL}" in told(result)
    assert project.files() == before


def test_a_class_that_cannot_be_collected_makes_nothing_stale(project: Project) -> None:
    project.write("test_more.py", "class TestIt:\n    def test_one(self, opcost, step):\n        opcost.check(step)\n")
    before = project.record()
    project.write(
        "test_more.py",
        "import pytest\n\n\n@pytest.mark.parametrize('absent', [1])\nclass TestIt:\n"
        "    def test_one(self, opcost, step):\n        opcost.check(step)\n\n\ndef test_other():\n    pass\n",
    )

    result = project.run("--opcost", "--opcost-prune-baselines", "--continue-on-collection-errors")

    result.assert_outcomes(errors=1, passed=2)
    assert f"1 baseline not looked at: not everything could be collected. {_ALL}" in told(result)
    assert project.files() == before


def test_collect_only_removes_nothing(project: Project, gone: Path) -> None:
    project.run("--opcost", "--opcost-prune-baselines", "--collect-only")

    assert gone.exists()


def test_another_batch_size_makes_nothing_stale(project: Project) -> None:
    (project.path / "test_model.py").unlink()
    project.write("test_sizes.py", "def test_model(opcost, opcost_batch_size, step):\n    opcost.check(step)\n")
    before = project.record("--opcost-batch-size=1,16")
    assert len(before) == 2

    result = project.run("--opcost-update-missing", "--opcost-prune-baselines", "--opcost-batch-size=4")

    assert _LISTED not in told(result)
    after = project.files()
    assert len(after) == 3
    assert {path: after[path] for path in before} == before


def test_a_parameter_of_the_users_own_that_is_gone_is_stale(project: Project) -> None:
    test = "import pytest\n\n\n@pytest.mark.parametrize('layers', {})\ndef test_p(opcost, layers, step):\n"
    test += "    opcost.check(step)\n"
    project.write("test_p.py", test.format("[1, 2]"))
    project.record()
    project.write("test_p.py", test.format("[1]"))

    result = project.run("--opcost")

    assert told(result).partition(_LISTED)[2].count("test_p.py-test_p-2-") == 1


_PARAMETERS = "import pytest\n\n\n@pytest.mark.parametrize('layers', {})\ndef test_p(opcost, layers, step):\n"
_PARAMETERS += (
    "    opcost.check(step)\n\n\nclass TestMore:\n    def test_more(self, opcost, step):\n        opcost.check(step)\n"
)
_NOT_LISTED = "1 baseline has no test any more and is not listed: "


@pytest.fixture
def fewer(project: Project) -> Project:
    """A project with a baseline of a parameter that is gone."""
    project.checks("test_other")
    project.write("test_p.py", _PARAMETERS.format("[1, 2, 3]"))
    project.record()
    project.write("test_p.py", _PARAMETERS.format("[1, 2]"))
    return project


@pytest.mark.parametrize("narrowed", ["test_p.py::test_p[1]", "test_p.py::test_p", "test_p.py::TestMore"])
def test_a_narrowed_run_tells_that_there_are_some_and_keeps_them(fewer: Project, narrowed: str) -> None:
    before = fewer.files()

    result = fewer.run("--opcost", narrowed)

    assert f"{_NOT_LISTED}this run takes only some tests. {_ALL}" in told(result)
    assert _LISTED not in told(result)
    assert fewer.files() == before


def test_so_does_one_that_could_not_collect_everything(fewer: Project) -> None:
    fewer.write("test_more.py", "def test_other(:\n")

    result = fewer.run("--opcost")

    assert f"{_NOT_LISTED}not everything could be collected. {_ALL}" in told(result)


@pytest.mark.parametrize("narrowed", ["test_more.py", "test_more.py::test_other", "--lf"])
def test_it_does_not_where_it_cannot_know(fewer: Project, narrowed: str) -> None:
    fewer.lenet(test="test_other", addmm=[3000.0, 2])
    fewer.run("--opcost")

    assert "not listed" not in told(fewer.run("--opcost", narrowed))


def test_nor_where_all_are_there(fewer: Project) -> None:
    fewer.write("test_p.py", _PARAMETERS.format("[1, 2, 3]"))

    assert "not listed" not in told(fewer.run("--opcost", "test_p.py::test_p[1]", "test_p.py::TestMore"))


def test_nor_of_parameters_that_follow_the_options(project: Project) -> None:
    project.write(
        "test_sizes.py",
        "def test_model(opcost, opcost_batch_size, step):\n    opcost.check(step)\n\n\n"
        "def test_other(opcost, step):\n    opcost.check(step)\n",
    )
    project.record("--opcost-batch-size=1,16")

    assert "not listed" not in told(project.run("--opcost", "--opcost-batch-size=1", "test_sizes.py::test_other"))


def test_files_that_are_no_baselines_are_left_alone(project: Project, gone: Path) -> None:
    for name, text in (("README.md", "hello"), ("other.yaml", "what: ever\n"), ("broken.yaml", "test: [\n")):
        (gone.parent / name).write_text(text)

    project.run("--opcost-prune-baselines").assert_outcomes(skipped=2)

    assert {path.name for path in project.files()} >= {"README.md", "other.yaml", "broken.yaml"}
