"""The text of a failed check: why it drifted, what drifted, what else moved, and the command that accepts it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from pytest_opcost.judge.causes import TIME_ONLY
from pytest_opcost.judge.facts import AS_DIGEST
from pytest_opcost.judge.figures import microseconds, signed
from pytest_opcost.judge.verdict import CORE, EXACT, FACTS, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.judge.causes import Cause
    from pytest_opcost.judge.verdict import Finding, Verdict

_MOST_BULLETS, _MOST_FACTS, _MOST_NAMES, _MOST_CAUSES = 8, 3, 12, 3
#: Of what is exact, so much is told in the first line: what an operator takes may be long, and stands below anyway.
_LONGEST_FACT = 100
_CALLED = (Kind.NEW, Kind.GONE, Kind.CALLS)
#: What is told in the first line in words of its own, since an 80 columns wide summary has some 45 left for it.
_IN_SHORT = (Kind.DEARER, Kind.CHEAPER, Kind.RATIO, *_CALLED)


def failure_text(
    title: str, verdict: Verdict, baseline: str, recorded: str, accept: str, causes: Sequence[Cause] = ()
) -> str:
    """The assertion message of a drifted check; its first line is what pytest's short summary shows of it.

    `baseline` is the file compared with, empty where it was another commit or interpreter; `recorded` says when and
    where it was made, `accept` is the command that takes the new figures over, `causes` say why, what explains the
    most first.
    """
    measured = f", measured {verdict.measurements} times" if verdict.measurements > 1 else ""
    failing = verdict.failing
    told = [cause for cause in causes if not any(cause.message in finding.message for finding in failing)]
    drifted = f"{title} drifted from its {'baseline' if baseline else 'base'}{measured}"
    lines = [f"{headline(failing, causes)}: {drifted}:"]
    # That nothing differs exactly is no cause, unless it is the first of several.
    apart = [cause for cause in told if cause.kind == TIME_ONLY and (cause is not told[0] or len(told) == 1)]
    lines += [f"Cause: {cause.message}" for cause in told[:_MOST_CAUSES] if cause not in apart]
    if causes and causes[0].kind == TIME_ONLY and any(one.kind in EXACT for one in failing):
        failing = tuple(sorted(failing, key=lambda one: one.op != causes[0].op))
    lines += _bullets(failing, [cause for cause in causes if len(cause.explains) > 1])
    lines += [f"  {cause.message[0].upper()}{cause.message[1:]}" for cause in apart]
    others = [finding for finding in verdict.told if not finding.fails]
    if moved := [finding for finding in others if finding.op != CORE]:
        lines += ["What else moved:", *_bullets(moved)]
    lines += [f"Besides: {finding.text}" for finding in others if finding.op == CORE]
    lines += [f"Baseline: {baseline} ({recorded})" if baseline else f"Compared with {recorded}"]
    cheaper = [finding.kind is Kind.CHEAPER for finding in failing]
    if any(cheaper):
        lines += ["What is cheaper fails by --opcost-fail-on=drift"]
    if baseline:
        lines += [f"Bank it: {accept}" if all(cheaper) else f"If this is meant, accept it: {accept}"]
    return "\n".join(lines)


def headline(failing: Sequence[Finding], causes: Sequence[Cause] = ()) -> str:
    """What drifted, operator and figure first: `aten::addmm +100 % (2,000 us a step, was 1,000 us), and 1 more`.

    Of several it is where the first cause starts, else the gravest operator, else the gravest finding.
    """
    exact = [one for one in failing if one.kind in EXACT]
    starts = [one for one in failing if causes and one.op == causes[0].op]
    timed = [one for one in failing if one.kind in (Kind.DEARER, Kind.CHEAPER)]
    first, *_ = starts or exact or timed or failing
    return _in_short(first) + (f", and {len(failing) - 1} more" if len(failing) > 1 else "")


def _in_short(finding: Finding) -> str:
    """One finding, its operator and figure before anything else."""
    was, now = finding.baseline, finding.current
    if was is None or now is None or finding.kind not in _IN_SHORT:
        message = finding.message.replace(f" ({finding.family})", "", 1)
        # Too long for both, it says what is there now.
        message = message if len(message) <= _LONGEST_FACT else message.partition(" (was ")[0].partition(AS_DIGEST)[0]
        return textwrap.shorten(message, _LONGEST_FACT, placeholder=" ...")
    moved = signed(finding.change)
    if finding.kind in _CALLED:
        return f"{finding.op} {now:.0f} call{'' if now == 1 else 's'} a step (was {was:.0f})"
    if finding.kind is Kind.RATIO:
        return f"{finding.op} {moved} ({now:.3g}, was {was:.3g})"
    name = "all other operators" if finding.op == finding.family else finding.op
    return f"{name} {moved} ({microseconds(now)} a step, was {microseconds(was)})"


def _bullets(findings: Sequence[Finding], causes: Sequence[Cause] = ()) -> list[str]:
    """A line each. What follows from one cause shares a line beyond the first few, and so do operators that take other
    inputs: they follow from one another.
    """
    following = [finding for finding in findings if finding.kind in FACTS][_MOST_FACTS:]
    for cause in causes:
        explained = [one for one in findings if one.op in cause.explains and one.kind in EXACT]
        # The one that the cause starts at stays, whatever its rank.
        explained.sort(key=lambda one: one.op != cause.op)
        following += [one for one in explained[_MOST_FACTS:] if one not in following]
    told = [finding for finding in findings if finding not in following]
    lines = [f"  - {finding.text}" for finding in told[:_MOST_BULLETS]]
    if following:
        place = max((at for at, one in enumerate(told[:_MOST_BULLETS], 1) if one.kind in EXACT), default=0)
        lines.insert(place, f"  - and so with {len(following)} more: {_names(following)}")
    if more := told[_MOST_BULLETS:]:
        lines.append(f"  - and {len(more)} more: {_names(more)}")
    return lines


def _names(findings: Sequence[Finding]) -> str:
    names = list(dict.fromkeys(finding.op for finding in findings))
    return ", ".join([*names[:_MOST_NAMES], *(["..."] if names[_MOST_NAMES:] else [])])


def nothing_judged_text(why: str, *, with_base: bool) -> str:
    """What is wrong with a run that was asked to judge and did not; `why` says what kept it from it, if it is known."""
    if why:
        return f"nothing was judged: {why}."
    needs, mend = "has a baseline to compare with", ", or record baselines: pytest --opcost-update-baselines"
    if with_base:
        needs, mend = "has figures of the base to compare with", "."
    return (
        "--opcost was given and nothing was judged.\n"
        f"Expected: at least one opcost test that ran and {needs}.\n"
        f"Look at the tests' own messages above{mend}"
    )
