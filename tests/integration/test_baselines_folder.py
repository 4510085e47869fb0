"""Where the baselines live, and what happens where they cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .project import summary, told

if TYPE_CHECKING:
    from pathlib import Path

    from .project import Project


def test_another_folder_below_the_root(project: Project) -> None:
    result = project.run("--opcost", "--opcost-baselines=costs/of/mine")

    (path,) = project.files("costs/of/mine")
    assert str(path.relative_to(project.path)) in told(result)
    assert "opcost: baselines costs/of/mine" in told(result)
    assert not (project.path / "baselines").exists()
    project.run("--opcost", "--opcost-baselines=costs/of/mine", "--opcost-missing=fail").assert_outcomes(passed=1)


def test_an_absolute_folder(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("shared")

    result = project.run("--opcost", f"--opcost-baselines={folder}")

    result.assert_outcomes(passed=1)
    (path,) = folder.rglob("*.yaml")
    assert str(path) in told(result)
    project.run("--opcost", f"--opcost-baselines={folder}", "--opcost-missing=fail").assert_outcomes(passed=1)


def test_the_folder_is_that_of_the_ini_file_wherever_pytest_is_started(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("deep/down/test_deep.py", "def test_deep(opcost, step):\n    opcost.check(step)\n")
    monkeypatch.chdir(project.path / "deep" / "down")

    project.run("--opcost").assert_outcomes(passed=1)

    (path,) = project.files()
    assert path.name.startswith("deep-down-test_deep.py-test_deep-")


def _in_the_way(project: Project) -> Path:
    return project.write("baselines/cpu-chip-a-1-thread-torch2.9", "a file where the folder should be\n")


def test_a_file_in_the_place_of_all_baselines_is_told_before_anything_is_measured(project: Project) -> None:
    project.write("file", "")

    result = project.run("--opcost", "--opcost-baselines=file")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = result.stderr.str()
    assert f"{project.path}/file: the baselines cannot be there: this is a file." in told
    assert "Name it with --opcost-baselines=DIR. Nothing was measured." in told
    assert project.seam.calls == []


def test_a_folder_that_cannot_be_written_fails_the_test_before_its_rounds(project: Project) -> None:
    file = _in_the_way(project)

    result = project.run("--opcost")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    text = told(result)
    assert "no baseline can be written there: " in text
    assert str(project.path / "baselines" / "cpu-chip-a-1-thread-torch2.9") in text
    assert "Choose another with --opcost-baselines=DIR, or make room for this one. Nothing was recorded." in text
    assert len(project.seam.calls) == 1, "no round was made in vain"
    assert "Traceback" not in text
    assert "INTERNALERROR" not in text
    assert file.read_text() == "a file where the folder should be\n"


def test_the_other_checks_of_such_a_run_are_still_told(project: Project) -> None:
    _in_the_way(project)
    project.checks("test_one", "test_two")

    result = project.run("--opcost")

    result.assert_outcomes(failed=3)
    assert "recorded" not in summary(result)


def test_ids_that_read_alike_have_files_of_their_own(project: Project) -> None:
    project.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.parametrize('word', ['a b', 'a-b', 'a/b', 'A b', 'ü'])\n"
        "def test_model(opcost, step, word):\n    opcost.check(step)\n",
    )

    assert len(project.record()) == 5
    project.run("--opcost", "--opcost-missing=fail").assert_outcomes(passed=5)


def test_an_id_longer_than_a_file_name_may_be(project: Project) -> None:
    (project.path / "test_model.py").unlink()
    project.checks(f"test_a_{'x' * 300}", f"test_b_{'x' * 300}")

    assert len(project.record()) == 2
    project.run("--opcost", "--opcost-missing=fail").assert_outcomes(passed=2)


def test_a_folder_with_an_at_sign_keeps_its_tests_apart(project: Project) -> None:
    """pytest-xdist appends `@group` to an id; a folder may be called so too."""
    for name in ("one", "two"):
        project.write(f"work@{name}/test_{name}.py", f"def test_{name}(opcost, step):\n    opcost.check(step)\n")

    project.record()

    assert [path.name.rpartition("-")[0] for path in project.files()] == [
        "test_model.py-test_model",
        "work-one-test_one.py-test_one",
        "work-two-test_two.py-test_two",
    ]
