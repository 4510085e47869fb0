"""Another root, and a root that cannot be written: baselines are where they are said to be, or that is said."""

from __future__ import annotations

import errno
import os
import tempfile
from typing import TYPE_CHECKING

import pytest

from .project import failure, summary, told

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .project import Project


@pytest.fixture
def elsewhere(project: Project) -> Path:
    """A folder beside the project."""
    folder = project.path.parent / f"{project.path.name}-elsewhere"
    folder.mkdir()
    return folder


def test_a_root_elsewhere_has_the_baselines(project: Project, elsewhere: Path) -> None:
    result = project.run("--opcost", f"--rootdir={elsewhere}")

    result.assert_outcomes(passed=1)
    assert not (project.path / "baselines").exists()
    (path,) = (elsewhere / "baselines").rglob("*.yaml")
    before = path.read_text()

    project.run("--opcost", f"--rootdir={elsewhere}", "--opcost-missing=fail").assert_outcomes(passed=1)
    project.lenet(addmm=[2000.0, 2])
    result = project.run("--opcost", f"--rootdir={elsewhere}")
    result.assert_outcomes(failed=1)
    assert "Baseline: baselines/cpu-chip-a" in failure(result)
    assert path.read_text() == before


def test_a_root_above_has_ids_that_go_down_from_there(project: Project) -> None:
    below = project.path / "below"
    for name in ("conftest.py", "test_model.py", "costs.json"):
        project.write(f"below/{name}", (project.path / name).read_text())
        (project.path / name).unlink()

    project.run("--opcost", f"--rootdir={project.path}", str(below)).assert_outcomes(passed=1)

    (path,) = project.files()
    assert path.name.startswith("below-test_model.py-test_model-")


@pytest.fixture
def read_only(project: Project) -> Iterator[Project]:
    """A recorded project in which no file or folder can be written."""
    project.record()
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere; what happens then is tried with an injected error, below")
    places = [project.path, *project.path.rglob("*")]
    for place in places:
        place.chmod(place.stat().st_mode & ~0o222)
    yield project
    for place in places:
        place.chmod(place.stat().st_mode | 0o200)


def test_a_read_only_root_is_compared(read_only: Project) -> None:
    result = read_only.run("--opcost", "-p", "no:cacheprovider")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 passed" in summary(result)


def test_a_read_only_root_cannot_be_recorded_and_that_is_said(read_only: Project) -> None:
    result = read_only.run("--opcost-update-baselines", "-p", "no:cacheprovider")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "Permission denied" in result.stderr.str()
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize("option", ["--opcost-update-baselines", "--opcost-add-rounds"])
def test_a_folder_that_takes_no_baselines_is_told_before_anything_is_measured(project: Project, option: str) -> None:
    project.write("taken", "a file")

    result = project.run(option, "--opcost-baselines=taken/baselines")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    first, *others = (line for line in result.errlines if line)
    folder = f"{project.path}/taken/baselines/cpu-chip-a-1-thread-torch2.9"
    assert first == f"ERROR: {folder}: no baseline can be written there: {project.path}/taken is a file."
    assert others == [
        "Expected: a folder, there already or new, where this user may write.",
        "Choose another with --opcost-baselines=DIR, or make room for this one. Nothing was recorded.",
    ]
    assert project.seam.calls == []


def test_a_folder_that_takes_no_baselines_is_no_matter_where_none_is_written(project: Project) -> None:
    project.write("taken", "a file")

    result = project.run("--opcost", "--opcost-baselines=taken/baselines", "--opcost-missing=report")

    assert (result.ret, "no baseline can be written" in result.stderr.str()) == (pytest.ExitCode.TESTS_FAILED, False)
    assert project.seam.calls


def _refuse(project: Project, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    real = getattr(tempfile, name)

    def refuse(*arguments: object, **more: object) -> object:
        if any(str(one).startswith(str(project.path)) for one in (*arguments, *more.values())):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(*arguments, **more)

    monkeypatch.setattr(tempfile, name, refuse)


@pytest.fixture
def cannot_write(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A recorded project on a file system that takes no new file later on: also where these tests run as root."""
    project.record()
    _refuse(project, monkeypatch, "mkstemp")
    return project


def test_a_file_system_that_is_read_only_is_told_before_anything_is_recorded(
    cannot_write: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _refuse(cannot_write, monkeypatch, "mkdtemp")
    before, measured = cannot_write.files(), len(cannot_write.seam.calls)

    result = cannot_write.run("--opcost-update-baselines")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "no baseline can be written there: Read-only file system, in " in result.stderr.str()
    assert (cannot_write.files(), len(cannot_write.seam.calls)) == (before, measured)


def test_a_file_system_that_is_read_only_is_compared(cannot_write: Project) -> None:
    before = cannot_write.files()

    result = cannot_write.run("--opcost", "--opcost-missing=fail")

    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.OK
    assert cannot_write.files() == before


def test_every_file_that_it_refuses_is_told_once_and_the_others_too(cannot_write: Project) -> None:
    before = cannot_write.files()

    result = cannot_write.run("--opcost-update-baselines", "--opcost-json=out.json")

    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (baseline,) = before
    assert f"{baseline}: the baseline could not be written: Read-only file system." in told(result)
    assert "Choose another folder with --opcost-baselines=DIR." in told(result)
    assert told(result).count("Read-only file system") == 2
    assert "Traceback" not in result.stdout.str()
    assert cannot_write.files() == before
    assert "opcost: 1 not judged" in summary(result)
    assert "not written, since its file cannot be" in told(result)
