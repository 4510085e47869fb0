"""`opcost history`: baselines through git."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .shelling import TEST, baseline, opcost

if TYPE_CHECKING:
    from .repository import Repository

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def baselines(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of baselines in a repository in which addmm became dearer at the second of three commits."""
    monkeypatch.chdir(repository.top)
    folder = Path("baselines")
    baseline(folder)
    repository.commit("Record the model")
    baseline(folder, addmm=2000.0)
    repository.commit("Make the classifier twice as wide")
    baseline(folder, addmm=2000.0, relu=700.1)
    repository.commit("Record once more")
    return folder


def _points(capsys: Capture, *arguments: str) -> list[dict[str, object]]:
    (course,) = opcost(capsys, "history", "--json", *arguments).data["courses"]
    points: list[dict[str, object]] = course["points"]
    return points


def test_it_says_where_an_operator_got_dearer(baselines: Path, repository: Repository, capsys: Capture) -> None:
    said = opcost(capsys, "history", "--op", "addmm")
    assert said.status == 0
    dearer = repository.git("rev-parse", "HEAD~1")[:9]
    assert f"largest rise: 1 ms -> 2.01 ms (+100 %) at {dearer}, Make the classifier twice as wide" in said.told
    points = _points(capsys, "--op", "addmm")
    assert [point["value"] for point in points] == [1004.0, 2008.0, 2008.0]
    assert [bool(point["moved"]) for point in points] == [False, True, False]
    assert points[0]["subject"] == "Record the model"


def test_a_long_subject_is_told_in_several_lines(baselines: Path, repository: Repository, capsys: Capture) -> None:
    baseline(baselines, addmm=4000.0)
    repository.commit("Give the classifier a second hidden layer and record the baselines of the model anew")
    told = opcost(capsys, "history", "--op", "addmm").told
    assert "+100 % Give the classifier a addmm +100 % second hidden layer and record the baselines ..." in told


def test_a_column_without_a_word_is_left_out(
    repository: Repository, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.top)
    for relu in (700.0, 700.1):
        baseline(Path("baselines"), relu=relu)
        repository.commit(f"Record relu at {relu}")
    assert "what moved" not in opcost(capsys, "history").told


@pytest.mark.parametrize(
    ("figure", "values"),
    [
        ("total", [7530, 8534, 8534]),
        ("conv", [4016, 4016, 4016]),
        ("conv/addmm", [4.0, 2.0, 2.0]),
        ("aten::relu", [702.8, 702.8, 702.9]),
    ],
)
@pytest.mark.usefixtures("baselines")
def test_what_can_be_followed(capsys: Capture, figure: str, values: list[float]) -> None:
    assert [point["value"] for point in _points(capsys, "--op", figure)] == pytest.approx(values, rel=1e-3)


def test_renames_are_followed(baselines: Path, repository: Repository, capsys: Capture) -> None:
    repository.git("mv", "baselines", "costs")
    repository.commit("Move the baselines")
    (path,) = Path("costs").rglob("*.yaml")
    path.write_text(path.read_text("utf-8").replace(TEST, "test_net.py::test_net"), "utf-8")
    path.rename(path.with_name("test_net.yaml"))
    repository.commit("Rename the test")

    points = _points(capsys, "--op", "addmm", "--baselines", "costs")

    assert [point["subject"] for point in points] == [
        "Record the model",
        "Make the classifier twice as wide",
        "Record once more",
        "Move the baselines",
        "Rename the test",
    ]


def test_a_merge_is_one_step(baselines: Path, repository: Repository, capsys: Capture) -> None:
    repository.git("checkout", "--quiet", "-b", "side")
    for cost in (2500.0, 3000.0):
        baseline(baselines, addmm=cost)
        repository.commit(f"Side {cost}")
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "-m", "Merge the side", "side")
    assert [point["subject"] for point in _points(capsys)][3:] == ["Merge the side"]


def test_what_is_not_committed_is_the_last_point(baselines: Path, capsys: Capture) -> None:
    baseline(baselines, addmm=3000.0)
    last = _points(capsys, "--op", "addmm")[-1]
    assert (last["commit"], last["subject"], last["value"]) == (None, "(not committed)", 3012.0)


def test_an_unreadable_version_is_told_and_passed_over(
    baselines: Path, repository: Repository, capsys: Capture
) -> None:
    (path,) = baselines.rglob("*.yaml")
    whole = path.read_text("utf-8")
    path.write_text("schema: 1\n", "utf-8")
    repository.commit("Damage it")
    path.write_text(whole.replace("2008", "2009"), "utf-8")
    repository.commit("Mend it")
    points = _points(capsys, "--op", "addmm")
    assert [point["problem"] for point in points][-2:] == ["not readable, schema: found 1", None]
    assert points[-1]["moved"] == []


def test_tests_and_machines_are_picked(baselines: Path, repository: Repository, capsys: Capture) -> None:
    baseline(baselines, "test_other.py::test_other")
    repository.commit("Another")
    assert len(opcost(capsys, "history", "--json").data["courses"]) == 2
    assert len(opcost(capsys, "history", "--json", "test_other").data["courses"]) == 1
    assert len(opcost(capsys, "history", "--json", "--machine", "chip-a").data["courses"]) == 2
    assert "1 baseline was recorded once" in opcost(capsys, "history").told
    for nothing in (("no_such_test",), ("--machine", "chip-b"), ("--op", "no_such_op")):
        said = opcost(capsys, "history", *nothing)
        assert said.status == 2
        assert "opcost show baselines" in said.told
    assert "Closest: addmm" in opcost(capsys, "history", "--op", "admm").told


@pytest.mark.usefixtures("baselines")
def test_the_plot(capsys: Capture) -> None:
    pytest.importorskip("matplotlib")
    said = opcost(capsys, "history", "--op", "addmm", "--plot", "new/addmm.png")
    assert said.status == 0
    assert said.out.endswith("plot: new/addmm.png\n")
    assert Path("new/addmm.png").read_bytes().startswith(b"\x89PNG")
    assert opcost(capsys, "history", "--plot", "addmm.svg").status == 2


def test_a_shallow_clone_is_told(
    baselines: Path, repository: Repository, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = repository.top.parent / "clone"
    repository.git("clone", "--quiet", "--depth=1", repository.top.as_uri(), str(clone))
    monkeypatch.chdir(clone)
    said = opcost(capsys, "history")
    assert said.status == 0
    assert "git fetch --unshallow" in said.told


def test_without_a_repository_or_a_commit(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    assert opcost(capsys, "history").status == 2
    baseline(tmp_path / "baselines")
    said = opcost(capsys, "history")
    assert said.status == 2
    assert "not a git repository" in said.told
    subprocess.run(["git", "init", "--quiet"], check=True)
    assert [point["subject"] for point in _points(capsys)] == ["(not committed)"]
    monkeypatch.setenv("PATH", "")
    said = opcost(capsys, "history")
    assert said.status == 2
    assert "git could not be run" in said.told
