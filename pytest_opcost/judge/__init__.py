"""Baseline and profile -> `Verdict`: exact comparison, timing comparison, and words for the cause. Pure functions."""

from pytest_opcost.judge.cost import Rules, microseconds, percent, signed
from pytest_opcost.judge.decide import confirmed, judge, judge_elsewhere
from pytest_opcost.judge.verdict import Finding, Kind, Outcome, Verdict

__all__ = [
    "Finding",
    "Kind",
    "Outcome",
    "Rules",
    "Verdict",
    "confirmed",
    "judge",
    "judge_elsewhere",
    "microseconds",
    "percent",
    "signed",
]
