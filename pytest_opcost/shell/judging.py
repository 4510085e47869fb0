"""Two sets of figures -> the verdict that the tests' own judge comes to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.costs import ratio_forms
from pytest_opcost.imports.known import has_means
from pytest_opcost.judge import Finding, Kind, Outcome, Reference, Rules, Verdict, causes, judge, judge_elsewhere
from pytest_opcost.judge.verdict import CORE
from pytest_opcost.results import CheckResult
from pytest_opcost.shell.pairs import same_hardware
from pytest_opcost.storage import comparable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.shell.known import Known


def judged(before: Known, after: Known, rules: Rules) -> CheckResult:
    """The result of judging the figures of `after` against those of `before`.

    Rounds that were kept are judged as the rounds that confirm a test are. One measurement alone decides, since it
    cannot be repeated: that is what tests do with --opcost-confirm=0. On another machine exact facts are compared, with
    another torch on the same one costs too.
    """
    verdict, where = _verdict(before, after, _with_ratios(before, after, rules))
    return CheckResult(
        subject=after.subject,
        profile=after.profile,
        verdict=replace(verdict, findings=(*verdict.findings, *_unlike_figures(before, after))),
        ratios=dict(after.ratios),
        baseline="",
        baseline_ratios=dict(before.ratios),
        compared=where is not None,
        top=10,
        origin=f"{before.path}, {before.told}{where or ''}",
        causes=causes(before.profile, after.profile, verdict.findings),
    )


def _unlike_figures(before: Known, after: Known) -> Iterator[Finding]:
    """That one side's figures are made otherwise, where they are."""
    sides = [has_means(side.profile) for side in (before, after)]
    if sides[0] != sides[1]:
        mean, least = ("the former figures", "these") if sides[0] else ("these figures", "the former")
        message = f"{mean} are means over steps, {least} the least over them, which is less: import traces with --means"
        yield Finding(Kind.MACHINE, CORE, "total", message)


def _with_ratios(before: Known, after: Known, rules: Rules) -> Rules:
    """The rules with the ratios that either side was recorded with; the user's bands win."""
    declared = {form.partition(" ")[0]: None for form in (*before.ratios, *after.ratios)}
    return replace(rules, ratios={**declared, **rules.ratios})


def _reference(before: Known, after: Known, rules: Rules) -> Reference:
    """What is judged against, with the ratios that were not recorded as its operators have them."""
    forms = ratio_forms(after.profile, rules.ratios)
    ratios = {form: value for form in forms if (value := before.profile.ratio(form)) is not None}
    return replace(before.reference, ratios={**ratios, **before.ratios})


def _verdict(before: Known, after: Known, rules: Rules) -> tuple[Verdict, str | None]:
    """The verdict, and what is to be said of the machine before, None where the two cannot be compared."""
    old, new = before.profile.environment, after.profile.environment
    if same_hardware(old, new):
        reference = replace(_reference(before, after, rules), other_torch=old.torch_minor != new.torch_minor)
        torch = f", torch {old.torch}" if old.torch != new.torch else ""
        return judge(reference, after.rounds, rules), torch
    if comparable(old, new):
        return judge_elsewhere(before.profile, after.profile), f", on {old.machine_key}: exact facts only"
    message = f"not compared: {new.machine_key} does other work than {old.machine_key}"
    finding = Finding(Kind.UNKNOWN, "machine", "machine", message)
    return Verdict(Outcome.NOT_JUDGED, (finding,), cost_judged=False), None
