"""Drifts as annotations: an error at the line of a test that failed for it, a warning where it is only reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.judge.words import failure_text
from pytest_opcost.report.github.commands import command

if TYPE_CHECKING:
    from pytest_opcost.results import CheckResult


@dataclass(frozen=True, slots=True)
class Place:
    """Where a test is: its file as GitHub knows it, from the repository's root on, and its line, from 1 on."""

    file: str
    line: int | None


def annotation(result: CheckResult, place: Place | None, *, failed: bool) -> str | None:
    """The workflow command that annotates a check, or None where there is nothing to tell.

    `failed` says whether its test failed: a drift that is expected, or caught by the test, is a warning.
    """
    verdict = result.verdict
    if not verdict.failing:
        return None
    subject = result.subject
    if result.compared:
        message = failure_text(
            subject.title, verdict, result.baseline, result.origin, subject.update_command, result.causes
        )
    else:
        message = verdict.findings[0].message
    return command(
        "error" if failed and result.fails else "warning",
        message,
        file=place.file if place else None,
        line=place.line if place else None,
        title=f"opcost: {subject.title}",
    )


def problem_annotation(problem: str) -> str:
    """The same for what went wrong with the run as a whole."""
    return command("error", problem, title="opcost")
