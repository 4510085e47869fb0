"""What is recorded of a check: a baseline made anew, or more rounds for one that holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost import baselines, rendering, seams, storage
from pytest_opcost.errors import BaselineError
from pytest_opcost.judge import Outcome, Verdict
from pytest_opcost.judge.disturbed import calm_rounds, undisturbed
from pytest_opcost.merging import with_facts_of
from pytest_opcost.updates import what_changed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_opcost.baselines import Baseline
    from pytest_opcost.costs import CostProfile
    from pytest_opcost.results import CheckResult
    from pytest_opcost.seams import Step
    from pytest_opcost.session import Check


def recorded(check: Check, first: CostProfile, step: Step, path: Path) -> CheckResult:
    """What a check finds that is recorded anew, with the file's text; its exact facts are those of `first`."""
    __tracebackhide__ = True
    storage.refuse_unwritable_folder(path.parent)  # before it takes half a minute
    # What is exact was read here, once: in the other processes only times are taken.
    rounds = [with_facts_of(first, profile) for profile in _calm_rounds(check, step)] or [first]
    baseline = baseline_of(check, rounds, path)
    old = None
    if path.exists():
        try:
            old = storage.load(path)
        except BaselineError:
            changes: tuple[str, ...] = ("replaces a damaged baseline",)
        else:
            changes = what_changed(old, baseline)
    else:
        changes = ("new",)
    return check.result(
        baseline.profile, Verdict(Outcome.RECORDED, measurements=len(rounds)), old,
        path=path, text=rendering.render(baseline, check.settings.top, check.subject.options), changes=changes,
    )  # fmt: skip


def with_rounds(check: Check, result: CheckResult, baseline: Baseline, step: Step) -> CheckResult:
    """A result that also adds this session's rounds to the baseline, where that holds."""
    __tracebackhide__ = True
    if result.verdict.failing:
        return result
    made = seams.recorded_rounds(check, step)
    calm = undisturbed(baseline.profile, made)
    if not calm:
        return replace(result, changes=("no round was added, since none was as calm as the baseline's",))
    rounds = [with_facts_of(result.profile, profile) for profile in calm]
    joined = baselines.with_session(baseline, baseline_of(check, rounds, baseline.path))
    told = [f"now of {len(joined.sessions)} sessions, {joined.rounds} rounds"]
    if len(calm) < len(made):
        told.append(f"{len(made) - len(calm)} of {len(made)} new rounds left out, as not as calm as the baseline's")
    text = rendering.render(joined, check.settings.top, check.subject.options)
    return replace(result, text=text, changes=tuple(told))


def baseline_of(check: Check, rounds: Sequence[CostProfile], path: Path) -> Baseline:
    """A baseline of these rounds."""
    ratios = [name for name, _ in check.settings.ratios]
    return baselines.new_baseline(path, check.subject.test, check.subject.check, rounds, ratios)


def _calm_rounds(check: Check, step: Step) -> Sequence[CostProfile]:
    rounds = seams.recorded_rounds(check, step)
    return calm_rounds(rounds, lambda: seams.fresh_profile(check, step), check.options.rounds) if rounds else []
