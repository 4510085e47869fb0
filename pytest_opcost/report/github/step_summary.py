"""The summary of a workflow's step: verdicts, ratios and causes in Markdown, appended to the file that GitHub shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.report.gfm import code, plain
from pytest_opcost.report.markdown.telling import verdict_section
from pytest_opcost.report.outcomes import outcomes_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_opcost.results import RunResults

#: Bytes of a step's summary; GitHub shows nothing of a longer one.
LIMIT = 1024 * 1024


def step_summary(run: RunResults, problems: Sequence[str] = ()) -> Iterator[str]:
    """The lines of the summary, what failed first; none where nothing was judged and nothing went wrong."""
    if not run.checks and not problems:
        return
    yield from (f"## opcost: {outcomes_text(run.checks) or 'nothing judged'}", "")
    for problem in problems:
        yield from (f"**ERROR**: {plain(problem)}", "")
    ordered = sorted(run.checks, key=lambda one: (not one.fails, not one.verdict.failing))
    if ordered:
        machines = dict.fromkeys(one.profile.environment.machine_key for one in ordered)
        yield from (f"Measured on {', '.join(map(code, machines))}.", "")
        yield from verdict_section(replace(run, checks=ordered))
    if drifted := [one for one in ordered if one.verdict.failing and one.baseline]:
        yield from ("What is meant is accepted by recording it:", "")
        commands = dict.fromkeys(one.subject.update_command for one in drifted)
        yield from (*(f"- {code(command)}" for command in commands), "")


def append_summary(path: Path, lines: Iterator[str]) -> None:
    """Append the lines to a step's summary, as many as its limit leaves room for.

    Other commands of the step may have written to the file before, and may after. Raises OSError where it cannot be
    written.
    """
    there = path.stat().st_size if path.exists() else 0
    text = _fitted(list(lines), LIMIT - there)
    if text:
        with path.open("ab") as file:
            file.write(text)


def _fitted(lines: Sequence[str], room: int) -> bytes:
    """The lines as UTF-8 in at most `room` bytes; where they are more, the last ones go, and a note says so."""
    # A test's name may hold half a surrogate pair, which no UTF-8 file can.
    encoded = [f"{line}\n".encode("utf-8", "replace") for line in lines]
    if sum(map(len, encoded)) <= room:
        return b"".join(encoded)
    note = b"\nGitHub shows 1 MiB of a step: the rest is left out here, and is in the step's output.\n"
    kept, left = [], room - len(note)
    for line in encoded:
        left -= len(line)
        if left < 0:
            break
        kept.append(line)
    return b"".join(kept) + note if kept else b""
