"""In a step of a GitHub workflow: annotations at the tests' lines and a summary, below what pytest says anyway."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .project import Project

pytest.importorskip("matplotlib")  # the summary is made as the Markdown report is


@pytest.fixture
def drifted(project: Project) -> Project:
    """A project in a subfolder of its repository, with a test that passes, one that drifted, one that only reports."""
    project.installs_its_own_seam()
    project.checks("test_one", "test_two")
    project.write(
        "sub/test_told.py",
        "import pytest\n\n\n@pytest.mark.opcost(on_drift='report')\n@pytest.mark.parametrize('of', ['a: b, 50 %'])\n"
        "def test_told(opcost, step, of):\n    opcost.check(step)\n",
    )
    project.record()
    project.lenet(test="test_two", addmm=[2000.0, 2])
    project.lenet(test="test_told[a: b, 50 %]", copy_=None)
    return project


@pytest.fixture
def summary(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the step's summary, with the environment that a workflow has."""
    path = project.path / "step-summary"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.path.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


def _annotations(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("::")]


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["one process", "xdist"])
def test_a_drift_is_annotated_at_its_line_and_summed_up(drifted: Project, summary: Path, workers: list[str]) -> None:
    if workers:
        pytest.importorskip("xdist")
    folder = drifted.path.name
    summary.write_text("# Of another command\n", encoding="utf-8")

    result = drifted.pytester.run(sys.executable, "-m", "pytest", "--opcost", *workers)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    warning, error = sorted(_annotations(result), reverse=True)
    assert error.startswith(
        f"::error file={folder}/test_more.py,line=5,title=opcost%3A test_more.py%3A%3Atest_two::aten::addmm +100 %25 "
    )
    assert warning.startswith(
        f"::warning file={folder}/sub/test_told.py,line=4,"
        "title=opcost%3A sub/test_told.py%3A%3Atest_told[a%3A b%2C 50 %25]::aten::copy_ 0 calls a step (was 2): "
    )
    text = summary.read_text("utf-8")
    assert text.startswith("# Of another command\n## opcost: 2 passed, 2 drifted\n")
    assert "| `test_more.py::test_two` " in text
    assert "- `aten::addmm` (addmm): 2,000 us a step, was 1,000 us (+100 %)\n" in text
    assert '- `pytest "test_more.py::test_two" --opcost-update-baselines`\n' in text


def test_the_terminal_says_what_it_says_elsewhere(
    drifted: Project, summary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = drifted.run("--opcost")
    monkeypatch.delenv("GITHUB_ACTIONS")
    elsewhere = drifted.run("--opcost")

    def lines(result: pytest.RunResult) -> list[str]:
        return [re.sub(r"in \d+\.\d+s|0x[0-9a-f]+", "...", line) for line in result.outlines]

    assert lines(elsewhere)[-1].startswith("====")
    assert lines(there)[: len(lines(elsewhere))] == lines(elsewhere)
    rest = lines(there)[len(lines(elsewhere)) :]
    assert len(rest) == 2
    assert all(line.startswith(("::error file=", "::warning file=")) for line in rest)


@pytest.mark.parametrize("value", [None, "", "false"])
def test_elsewhere_there_is_neither(
    drifted: Project, summary: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is None:
        monkeypatch.delenv("GITHUB_ACTIONS")
    else:
        monkeypatch.setenv("GITHUB_ACTIONS", value)

    result = drifted.run("--opcost")

    result.assert_outcomes(passed=3, failed=1)
    assert _annotations(result) == []
    assert not summary.exists()


@pytest.mark.parametrize("options", [[], ["--opcost", "--collect-only"]], ids=["without opcost", "only collected"])
def test_a_run_that_measures_nothing_has_neither(drifted: Project, summary: Path, options: list[str]) -> None:
    result = drifted.run(*options)

    assert result.ret == 0
    assert _annotations(result) == []
    assert not summary.exists()


@pytest.mark.parametrize("options", [["-p", "no:terminal"], ["--no-summary"], ["-s", "-q"]])
def test_whatever_the_terminal_is_told_annotations_are_lines_of_their_own(
    drifted: Project, summary: Path, options: list[str]
) -> None:
    result = drifted.pytester.run(sys.executable, "-m", "pytest", "--opcost", *options)

    assert len(_annotations(result)) == 2
    assert "2 drifted" in summary.read_text("utf-8")


def test_a_drift_that_is_expected_is_a_warning(project: Project, summary: Path) -> None:
    project.record()
    project.lenet(copy_=None)
    project.write("test_model.py", "import pytest\n\n\n@pytest.mark.xfail\ndef test_model(opcost, step):\n"
                  "    opcost.check(step)\n")  # fmt: skip

    (line,) = _annotations(project.run("--opcost"))

    assert line.startswith("::warning file=")


def test_that_nothing_was_judged_is_told_in_both(project: Project, summary: Path) -> None:
    result = project.run("--opcost", "-k", "nothing")

    (line,) = _annotations(result)
    assert line.startswith("::error title=opcost::--opcost was given and nothing was judged.%0AExpected: ")
    assert "**ERROR**: --opcost was given and nothing was judged. Expected: " in summary.read_text("utf-8")


def test_a_summary_that_cannot_be_written_fails_nothing(
    project: Project, summary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.record()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "nowhere" / "summary"))

    result = project.run("--opcost")

    assert result.ret == 0
    (line,) = _annotations(result)
    assert line.startswith("::warning title=opcost::The step's summary could not be written: ")


def test_a_workflow_that_sums_up_nowhere_still_has_annotations(
    drifted: Project, summary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    monkeypatch.delenv("GITHUB_WORKSPACE")

    found = _annotations(drifted.run("--opcost"))

    assert sorted(line.partition(" file=")[2].partition(",")[0] for line in found) == ["sub/test_told.py",
                                                                                       "test_more.py"]  # fmt: skip
