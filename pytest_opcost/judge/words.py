"""The text of a failed check: what drifted, what else moved, and the command that accepts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge.verdict import EXACT, FACTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.judge.verdict import Finding, Verdict

_MOST_BULLETS, _MOST_FACTS, _MOST_NAMES = 8, 3, 12


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
    """A line each; beyond the first few, operators that take other inputs share one: they follow from one another."""
    following = [finding for finding in findings if finding.kind in FACTS][_MOST_FACTS:]
    told = [finding for finding in findings if finding not in following]
    lines = [f"  - {finding.message}" for finding in told[:_MOST_BULLETS]]
    if following:
        place = sum(finding.kind in EXACT for finding in told[:_MOST_BULLETS])
        lines.insert(place, f"  - and so with {len(following)} more: {_names(following)}")
    if more := told[_MOST_BULLETS:]:
        lines.append(f"  - and {len(more)} more: {_names(more)}")
    return lines


def _names(findings: Sequence[Finding]) -> str:
    names = list(dict.fromkeys(finding.op for finding in findings))
    return ", ".join([*names[:_MOST_NAMES], *(["..."] if names[_MOST_NAMES:] else [])])
