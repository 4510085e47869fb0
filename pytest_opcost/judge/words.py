"""The text of a failed check: what drifted, what else moved, and the command that accepts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.judge.verdict import Finding, Verdict

_MOST_BULLETS = 8


def failure_text(title: str, verdict: Verdict, baseline: str, recorded: str, accept: str) -> str:
    """The assertion message of a drifted check.

    `baseline` is the file compared with, `recorded` says when and where it was made, `accept` is the command that
    takes the new figures over.
    """
    measured = f" in each of {verdict.measurements} measurements" if verdict.measurements > 1 else ""
    failing = verdict.failing
    lines = [f"opcost: {title} drifted from its baseline{measured}:", *_bullets(failing)]
    if others := [finding for finding in verdict.findings if not finding.fails]:
        lines += ["What else moved:", *_bullets(others)]
    lines += [f"Baseline: {baseline} ({recorded})", f"If this is meant, accept it: {accept}"]
    return "\n".join(lines)


def _bullets(findings: Sequence[Finding]) -> list[str]:
    lines = [f"  - {finding.message}" for finding in findings[:_MOST_BULLETS]]
    if more := findings[_MOST_BULLETS:]:
        names = ", ".join(dict.fromkeys(finding.op for finding in more))
        lines.append(f"  - and {len(more)} more: {names}")
    return lines
