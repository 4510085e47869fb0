"""`opcost history`: the course of baselines through git, as a table and as a picture."""

from __future__ import annotations

import textwrap
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_opcost import storage
from pytest_opcost.costs import TOTAL
from pytest_opcost.errors import BaselineError
from pytest_opcost.judge import signed
from pytest_opcost.report.quantities import short_time
from pytest_opcost.report.tables import WIDTH, plain_table
from pytest_opcost.report.wrapping import wrapped
from pytest_opcost.shell.command import Command
from pytest_opcost.shell.commits import Commit, contents, course, is_shallow, steps, top_of
from pytest_opcost.shell.courses import Course, Point, course_of, names_of
from pytest_opcost.shell.known import FileError, from_baseline
from pytest_opcost.shell.printing import complain, show_json, show_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_opcost.shell.commits import Step

#: A sentence in a table has so many characters a line at least, and no more lines than that.
_LEAST, _MOST_LINES = 16, 3
_NOW = Commit("", "", "(not committed)", -1)


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tests", metavar="TEST", nargs="*", help="only tests whose id contains one of these texts")
    parser.add_argument(
        "--op", metavar="NAME", default=TOTAL,
        help="what to follow: an operator (aten::mm or mm), a family (conv), a ratio (conv/addmm); the default is the "
        "whole step",
    )  # fmt: skip
    parser.add_argument("--machine", metavar="TEXT", default="", help="only machines whose key contains this text")
    parser.add_argument(
        "--baselines", metavar="DIR", type=Path, default=Path("baselines"), help="their folder (default: baselines)"
    )
    parser.add_argument("--plot", metavar="FILE.png", type=Path, help="draw the courses into this file, too")


def _run(given: argparse.Namespace) -> int:
    if given.plot is not None and given.plot.suffix.lower() != ".png":
        raise FileError(f"--plot={given.plot} is no name of a picture.\nExpected: a name that ends in .png.")
    if not given.baselines.is_dir():
        raise FileError(f"{given.baselines}: no such folder.\nExpected: the folder of the baselines, --baselines=DIR.")
    top = top_of(given.baselines)
    courses = _courses(given, top)
    if not courses:
        raise FileError(
            f"{given.baselines}: no baseline{_in_words(given)} there.{_closest(given)}\n"
            f"What there is: opcost show {given.baselines}"
        )
    if given.plot is not None:
        _draw(given.plot, courses, given.op)
    if given.json:
        show_json({"figure": given.op, "courses": [_as_data(one) for one in courses]})
        return 0
    show_lines(_lines(courses, given.op))
    if given.plot is not None:
        print(f"plot: {given.plot}")
    if is_shallow(top):
        complain("this clone is shallow: older commits are missing. Fetch them: git fetch --unshallow")
    return 0


def _in_words(given: argparse.Namespace) -> str:
    """What was asked for and is not there, in words."""
    words = [f"of a test called {' or '.join(map(repr, given.tests))}"] if given.tests else []
    words += [f"of a machine called {given.machine!r}"] if given.machine else []
    words += [f"with {given.op}"] if given.op != TOTAL else []
    return "".join(f" {one}" for one in words)


def _closest(given: argparse.Namespace) -> str:
    """What baselines have and what was asked for may have meant."""
    if given.op == TOTAL or "/" in given.op:
        return ""
    from difflib import get_close_matches

    names: set[str] = set()
    for path in given.baselines.rglob("*.yaml"):
        with suppress(BaselineError):
            names.update(*map(names_of, from_baseline(storage.load(path)).profile.ops))
    matches = get_close_matches(given.op, sorted(names))
    return f" Closest: {', '.join(matches)}." if matches else ""


def _courses(given: argparse.Namespace, top: Path) -> list[Course]:
    """The courses of the baselines that there are now, of the tests and machines that were asked for."""
    changes = steps(top)
    by_path: dict[Path, list[Step]] = {}
    for path in sorted(given.baselines.rglob("*.yaml")):
        by_path[path] = course(path.resolve().relative_to(top.resolve()).as_posix(), changes)
    texts = contents(top, (step.blob for own in by_path.values() for step in own))
    found = []
    for path, own in by_path.items():
        versions = [(step.commit, texts[step.blob]) for step in own]
        now = path.read_text(encoding="utf-8", errors="replace")
        if not versions or versions[-1][1] != now:
            versions.append((_NOW, now))
        one = course_of(path, versions, given.op)
        if one is None or not _asked(one, given):
            continue
        found.append(one)
    return found


def _asked(one: Course, given: argparse.Namespace) -> bool:
    if given.machine not in one.known.machine or all(point.value is None for point in one.points):
        return False
    return not given.tests or any(text in one.known.subject.title for text in given.tests)


def _lines(courses: Sequence[Course], figure: str) -> Iterator[str]:
    unchanged = [one for one in courses if len(one.points) == 1]
    shown = courses if len(courses) == 1 else [one for one in courses if len(one.points) > 1]
    for one in shown:
        yield from wrapped(one.known.subject.title, "    ")
        yield from wrapped(f"    {figure} on {one.known.machine}", "      ")
        yield from _table(one, figure)
        if one.dearer is not None:
            yield from wrapped(f"    largest rise: {_rise(*one.dearer, figure)}", "      ")
        yield ""
    if unchanged and shown is not courses:
        some = "s were" if len(unchanged) > 1 else " was"
        yield from wrapped(f"{len(unchanged)} baseline{some} recorded once and not changed since", "  ")


def _table(one: Course, figure: str) -> list[str]:
    rows, before = [], None
    for point in one.points:
        change = signed(point.value / before - 1) if point.value and before else ""
        rows.append([_name(point.commit), point.commit.day, _figure(point, figure), change, point.commit.subject])
        rows[-1].append(point.problem or ", ".join(point.moved))
        before = point.value or before
    headers = ["commit", "day", figure.removeprefix("aten::")[:12], "change", "subject", "what moved"]
    if not any(row[-1] for row in rows):
        del headers[-1]
        rows = [row[:-1] for row in rows]
    return _fitting(rows, headers, range(4, len(headers)))


def _fitting(rows: list[list[str]], headers: list[str], sentences: range) -> list[str]:
    """The table with its last columns, which are sentences, broken into as many lines as the width asks for."""
    for column in sentences:
        lines = plain_table(rows, headers, left=2, right=len(sentences))
        longest = max(len(row[column]) for row in (*rows, headers))
        most = max(longest - max(max(map(len, lines)) - WIDTH, 0), _LEAST)
        for row in rows:
            row[column] = "\n".join(textwrap.wrap(row[column], most, max_lines=_MOST_LINES, placeholder=" ..."))
    return plain_table(rows, headers, left=2, right=len(sentences))


def _name(commit: Commit) -> str:
    return commit.name[:9] or "now"


def _figure(point: Point, figure: str) -> str:
    if point.value is None:
        return "-"
    return f"{point.value:.3g}" if "/" in figure else short_time(point.value)


def _rise(before: Point, after: Point, figure: str) -> str:
    assert before.value
    assert after.value
    rise = f"{_figure(before, figure)} -> {_figure(after, figure)} ({signed(after.value / before.value - 1)})"
    return f"{rise} at {_name(after.commit)}, {after.commit.subject}"


def _as_data(one: Course) -> dict[str, Any]:
    return {
        "path": str(one.known.path),
        "test": one.known.subject.test,
        "check": one.known.subject.check,
        "machine": one.known.machine,
        "points": [
            {
                "commit": point.commit.name or None,
                "day": point.commit.day or None,
                "subject": point.commit.subject,
                "value": point.value,
                "machine": None if point.known is None else point.known.machine,
                "moved": list(point.moved),
                "problem": point.problem or None,
            }
            for point in one.points
        ],
    }


def _draw(path: Path, courses: Sequence[Course], figure: str) -> None:
    """Write the picture; raises FileError where matplotlib is not there."""
    try:
        from pytest_opcost.report.charts.course import Line, course_chart
        from pytest_opcost.report.saving import as_png
    except ImportError as error:
        raise FileError(f"--plot needs matplotlib: {error}.\nInstall it, or leave --plot out.") from None
    from pytest_opcost.report.whole_files import write_whole

    # The newest commit has place 0.
    commits = sorted({point.commit for one in courses for point in one.points}, key=lambda commit: -commit.place)
    places = {commit: index for index, commit in enumerate(commits)}
    lines = []
    for one in courses:
        points = [point for point in one.points if point.value is not None]
        at = tuple(places[point.commit] for point in points)
        moved = frozenset(places[point.commit] for point in points if point.moved)
        lines.append(Line(one.known.subject.title, at, tuple(point.value or 0.0 for point in points), moved))
    unit = figure if "/" in figure else f"{figure}, us a step"
    write_whole(path, as_png(course_chart(lines, [_name(commit) for commit in commits], unit)), "--plot")


COMMAND = Command(
    name="history",
    summary="a baseline's course through git: when did this operator get dearer",
    description="""\
Follow baselines through the commits that changed them, as these came to this
branch (a merge is one step), renames included: what the whole step, a family,
an operator or a ratio cost, and where the tests' judge sees that it moved.""",
    examples="""\
  opcost history                               # every step's total
  opcost history --op conv test_train
  opcost history --op conv/addmm --machine h200 --plot conv.png""",
    declare=_declare,
    run=_run,
)
