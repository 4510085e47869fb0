"""A test without a baseline: recorded by a person, a failure in CI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .project import failure, summary, told

if TYPE_CHECKING:
    from .project import Project


def test_in_ci_a_missing_baseline_fails_the_test(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    message = failure(result)
    assert message.startswith("pytest_opcost.errors.BaselineError: no baseline on this machine (baselines/")
    assert "Expected for test_model.py::test_model: a baseline in git" in message
    assert "baselines/cpu-chip-a-1-thread-torch2.9/test_model.py-test_model-" in message
    assert 'pytest "test_model.py::test_model" --opcost-update-baselines' in message
    assert "--opcost-missing=report" in message
    assert "opcost: 1 not judged" in summary(result)


def test_in_ci_nothing_is_written_or_changed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.record()
    project.checks("test_new")
    before = project.files()
    monkeypatch.setenv("CI", "true")

    project.run("--opcost").assert_outcomes(passed=1, failed=1)

    assert project.files() == before


@pytest.mark.parametrize("option", ["--opcost-update-baselines", "--opcost-update-missing"])
def test_in_ci_the_update_options_write_all_the_same(
    project: Project, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setenv("CI", "1")

    result = project.run(option)

    result.assert_outcomes(passed=1)
    assert len(project.files()) == 1


@pytest.mark.parametrize("value", ["", "0", "false"])
def test_a_ci_variable_that_says_no_is_no_ci(project: Project, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CI", value)

    project.run("--opcost").assert_outcomes(passed=1)

    assert len(project.files()) == 1


def test_record_in_ci_needs_an_update_option(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")

    result = project.run("--opcost", "--opcost-missing=record")

    result.assert_outcomes(failed=1)
    assert "To record it here: --opcost-update-missing." in failure(result)
    assert project.files() == {}


def test_report_in_ci_reports(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.record()
    project.checks("test_new")
    monkeypatch.setenv("CI", "1")

    result = project.run("--opcost", "--opcost-missing=report")

    result.assert_outcomes(passed=2)
    assert len(project.files()) == 1


def test_report_passes_the_test_and_says_what_is_missing(project: Project) -> None:
    project.record()
    project.checks("test_new")

    result = project.run("--opcost", "--opcost-missing=report")

    result.assert_outcomes(passed=2)
    assert result.ret == 0
    assert "opcost: 1 passed, 1 not judged" in summary(result)
    assert "- no baseline on this machine (baselines/" in told(result)
    assert 'record one with: pytest "test_more.py::test_new" --opcost-update-baselines' in told(result)
    assert len(project.files()) == 1


def test_fail_asked_for_by_a_person_fails(project: Project) -> None:
    result = project.run("--opcost", "--opcost-missing=fail")

    result.assert_outcomes(failed=1)
    assert project.files() == {}


def test_the_header_says_what_happens_without_a_baseline(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.run("--opcost").stdout.fnmatch_lines(["opcost: compare; without a baseline: record"])
    monkeypatch.setenv("CI", "1")
    project.run("--opcost").stdout.fnmatch_lines(["opcost: compare; without a baseline: fail"])


def test_report_on_drift_does_not_excuse_a_missing_baseline(project: Project) -> None:
    project.run("--opcost", "--opcost-missing=fail", "--opcost-on-drift=report").assert_outcomes(failed=1)
