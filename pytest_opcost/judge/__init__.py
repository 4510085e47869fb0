"""Baseline and profile -> `Verdict`: exact comparison, timing comparison, and words for the cause. Pure functions."""

from pytest_opcost.judge.causes import Cause, causes
from pytest_opcost.judge.decide import SUSPICIOUS, Again, confirmed, judge, judge_elsewhere, reproduced, settled
from pytest_opcost.judge.figures import microseconds, signed, unsigned
from pytest_opcost.judge.pairs import compared_rounds, judge_pairs
from pytest_opcost.judge.reference import Reference, Rules
from pytest_opcost.judge.verdict import Compared, Finding, Kind, Outcome, Verdict

__all__ = [
    "SUSPICIOUS",
    "Again",
    "Cause",
    "Compared",
    "Finding",
    "Kind",
    "Outcome",
    "Reference",
    "Rules",
    "Verdict",
    "causes",
    "compared_rounds",
    "confirmed",
    "judge",
    "judge_elsewhere",
    "judge_pairs",
    "microseconds",
    "reproduced",
    "settled",
    "signed",
    "unsigned",
]
