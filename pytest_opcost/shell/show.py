"""`opcost show FILE...`: what baselines and results hold."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_opcost import values
from pytest_opcost.errors import OpcostError
from pytest_opcost.plain import profile_data
from pytest_opcost.report.operators import clocks, operator_rows
from pytest_opcost.report.quantities import short_time
from pytest_opcost.report.tables import narrow_table
from pytest_opcost.report.wrapping import wrapped
from pytest_opcost.shell.command import MISUSED, Command
from pytest_opcost.shell.known import read
from pytest_opcost.shell.printing import complain_of, show_json, show_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_opcost.shell.known import Known


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", metavar="FILE", nargs="+", type=Path,
        help="a baseline, a file of results, or a folder, whose baselines are listed in a line each",
    )  # fmt: skip
    parser.add_argument("--top", metavar="N", default="10", help="operators to show (default 10)")


def _run(given: argparse.Namespace) -> int:
    top, problems = values.positive("--top", given.top), []
    shown: list[dict[str, Any]] = []
    for path in given.paths:
        try:
            held = read(path)
        except OpcostError as error:
            problems.append(str(error))
            continue
        problems += held.damaged
        if given.json:
            shown += [as_data(one) for one in held.found]
        elif path.is_dir():
            show_lines(_listed(held.found))
        else:
            show_lines(line for one in held.found for line in as_lines(one, top))
    if given.json:
        show_json({"shown": shown, "damaged": problems})
    complain_of(problems)
    return MISUSED if problems else 0


def as_lines(known: Known, top: int) -> Iterator[str]:
    """What is known of one check: where it is from, its dearest operators on each clock, ratios, the cold step."""
    profile = known.profile
    yield from wrapped(known.subject.title, "    ")
    yield from wrapped(f"    {known.told}, on {known.machine}, torch {profile.environment.torch}", "      ")
    if known.result is not None:
        yield from wrapped(f"    {known.result.verdict.outcome.words}", "      ")
        for finding in known.result.verdict.findings:
            yield from wrapped(f"    - {finding.text}", "      ")
    for clock in clocks(profile):
        headers, rows = operator_rows(profile, clock, top)
        # Names need the room: the family is in most of them, and FLOPs are in FLOP/s.
        kept = [index for index, name in enumerate(headers) if name not in ("family", "MFLOP")]
        if rows:
            yield from narrow_table(
                [[row[index] for index in kept] for row in rows], [headers[i] for i in kept], left=1
            )
    ratios = [f"{name} {value:.3g}" for name, value in known.ratios.items()]
    yield from wrapped("    " + ", ".join([f"step {short_time(profile.wall_us)}", *ratios]), "      ")
    if profile.cold is not None:
        yield f"    first step, cold: {short_time(profile.cold.wall_us)}"
    for remark in profile.remarks:
        yield from wrapped(f"    - {remark}", "      ")
    yield ""


#: Of what has a line of its own, so that four columns fit 80 characters.
_WIDEST = 36


def _listed(found: Sequence[Known]) -> Iterator[str]:
    """A line for each check, machine by machine and file by file."""
    machines: dict[str, dict[str, list[Known]]] = {}
    for one in found:
        file = one.subject.title.partition("::")[0]
        machines.setdefault(one.machine, {}).setdefault(file, []).append(one)
    for machine, files in machines.items():
        yield machine
        for file, members in sorted(files.items()):
            rows = [
                [ending(_in_its_file(one), _WIDEST), short_time(one.profile.wall_us), str(sum(one.sessions)),
                 _dearest(one)]
                for one in sorted(members, key=_numbered)
            ]  # fmt: skip
            yield from narrow_table(rows, [ending(file, _WIDEST), "step", "rounds", "dearest operator"], left=1)
            yield ""


def _in_its_file(one: Known) -> str:
    return one.subject.title.partition("::")[2] or one.subject.title


def _numbered(one: Known) -> list[tuple[int, str]]:
    """What checks are sorted by: their titles, and figures in these by their size."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", _in_its_file(one))]


def ending(title: str, most: int) -> str:
    """A title cut to what fits: its end tells more than its beginning."""
    return title if len(title) <= most else f"...{title[3 - most :]}"


def _dearest(one: Known) -> str:
    name = next((op.name for op in one.profile.ops if not op.waits), "").removeprefix("aten::")
    return name if len(name) <= 22 else f"{name[:19]}..."


def as_data(known: Known) -> dict[str, Any]:
    """The same for programs; fields that `contract.TEST` has too mean the same."""
    data = profile_data(known.profile)
    environment = data["environment"]
    environment["machine"] = known.machine
    for name in ("settings", "details"):
        environment[name] = dict(environment[name])
    del data["timeline"]
    return {
        "path": str(known.path),
        "told": known.told,
        "rounds": sum(known.sessions),
        **asdict(known.subject),
        "ratios": dict(known.ratios),
        "verdict": None if known.result is None else known.result.verdict.outcome.value,
        **data,
    }


COMMAND = Command(
    name="show",
    summary="what baselines and results hold: operators, ratios, environment",
    description="""\
Show what files hold, test by test: where and when it was measured, its dearest
operators, its ratios and its first, cold step. Times are microseconds of self
time a step.""",
    examples="""\
  opcost show results.json
  opcost show baselines                    # every baseline in a line
  opcost show baselines/*/*test_train* --top 5""",
    declare=_declare,
    run=_run,
)
