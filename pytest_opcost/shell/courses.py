"""The course of one baseline: what a figure was at each commit, and where the judge sees that it moved."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_opcost import storage
from pytest_opcost.costs import TOTAL
from pytest_opcost.errors import BaselineError
from pytest_opcost.judge import Kind, Rules, judge, signed
from pytest_opcost.shell.known import from_baseline

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_opcost.costs import CostProfile, OpCost
    from pytest_opcost.shell.commits import Commit
    from pytest_opcost.shell.known import Known

#: What is worth a word in a table, given the operator and its relative change.
_WORDS = {
    Kind.DEARER: "{} {}",
    Kind.CHEAPER: "{} {}",
    Kind.RATIO: "{} {}",
    Kind.NEW: "{} new",
    Kind.GONE: "{} gone",
    Kind.CALLS: "{} calls",
    Kind.BACKEND: "{} backend",
    Kind.INPUTS: "{} inputs",
    Kind.FLOPS: "{} FLOPs",
    Kind.KERNELS: "{} kernels",
    Kind.SETTING: "setting {}",
}


@dataclass(frozen=True, slots=True)
class Point:
    """A baseline at one commit. `value` is the figure that was asked for, microseconds a step or a ratio, None where
    the step has none; `moved` says in words what the judge sees against the point before. `problem` is why the file
    of that commit cannot be read.
    """

    commit: Commit
    known: Known | None = None
    value: float | None = None
    moved: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Course:
    """A baseline's points from the oldest to the newest."""

    known: Known
    points: tuple[Point, ...]

    @property
    def dearer(self) -> tuple[Point, Point] | None:
        """The largest rise, with the point before it; None where nothing rose that the judge sees."""
        usable = [point for point in self.points if point.value]
        rises = [(before, after) for before, after in pairwise(usable) if after.moved]
        rises = [(one, two) for one, two in rises if _ratio(one, two) > 1]
        return max(rises, key=lambda pair: _ratio(*pair), default=None)


def _ratio(one: Point, two: Point) -> float:
    return (two.value or 1.0) / (one.value or 1.0)


def course_of(path: Path, versions: Sequence[tuple[Commit, str]], figure: str) -> Course | None:
    """The course of the file at `path`, given the texts that it had; None where none of them can be read.

    `figure` is `total`, a family, an operator's name with or without its namespace, or a ratio of two of these.
    """
    points: list[Point] = []
    before: Known | None = None
    for commit, text in versions:
        try:
            known = from_baseline(storage.load_text(text, path))
        except BaselineError as error:
            why = str(error).splitlines()[0].removeprefix(f"{path}: ").rstrip(".")
            points.append(Point(commit, problem=f"not readable, {why}"))
            continue
        moved = _moved(before, known, figure) if before is not None else ()
        points.append(Point(commit, known, value(known.profile, figure), moved))
        before = known
    return Course(before, tuple(points)) if before is not None else None


def value(profile: CostProfile, figure: str) -> float | None:
    """The figure of one step: microseconds, or a ratio's value; None where it has no such operators."""
    if "/" in figure:
        above, _, below = figure.partition("/")
        sides = [sum(map(profile.cost_us, _ops(profile, side))) for side in (above, below.partition(" ")[0])]
        return sides[0] / sides[1] if min(sides) > 0 else None
    if figure == TOTAL:
        return profile.total_us
    ops = _ops(profile, figure)
    return sum(map(profile.cost_us, ops)) if ops else None


def _ops(profile: CostProfile, side: str) -> list[OpCost]:
    """The operators that a name stands for: everything, a family, or an operator with or without its namespace."""
    if side == TOTAL:
        return [op for op in profile.ops if not op.waits]
    return [op for op in profile.ops if side in names_of(op)]


def names_of(op: OpCost) -> tuple[str, str, str]:
    """What an operator is asked for by: its family, and its name with and without its namespace."""
    return op.family, op.name, op.name.rpartition("::")[2]


def _moved(before: Known, now: Known, figure: str) -> tuple[str, ...]:
    """What the judge finds of the figure's operators between two versions, the gravest first; nothing across machines,
    whose costs do not compare.
    """
    if before.machine != now.machine:
        return ("another machine",)
    ratios = {form.partition(" ")[0]: None for form in now.ratios}
    findings = judge(before.reference, now.rounds, Rules(ratios)).findings
    sides = (figure,) if figure == TOTAL else figure.partition(" ")[0].split("/")
    asked = {op.name for known in (before, now) for side in sides for op in _ops(known.profile, side)}
    return tuple(
        _WORDS[one.kind].format(one.op.removeprefix("aten::"), signed(one.change))
        for one in findings
        if one.kind in _WORDS and (figure == TOTAL or one.op in asked or one.op == figure)
    )
