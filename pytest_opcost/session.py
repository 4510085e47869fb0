"""One check from top to bottom: measure, find the baseline, judge, confirm, decide what is to be written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_opcost import baselines, paths, recording, seams, storage
from pytest_opcost.costs import CostProfile, ratio_forms
from pytest_opcost.errors import BaselineError, DriftError
from pytest_opcost.garbage import no_garbage_collection
from pytest_opcost.judge import (
    SUSPICIOUS,
    Again,
    Finding,
    Kind,
    Outcome,
    Rules,
    Verdict,
    causes,
    compared_rounds,
    confirmed,
    judge,
    judge_elsewhere,
    judge_pairs,
    reproduced,
    settled,
)
from pytest_opcost.judge.reference import FEWEST_ROUNDS
from pytest_opcost.judge.words import failure_text
from pytest_opcost.merging import beside, merged, with_facts_of
from pytest_opcost.options import Missing, Options, Update
from pytest_opcost.results import CheckResult, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pytest_opcost.base import Base
    from pytest_opcost.baselines import Baseline
    from pytest_opcost.check_options import CheckOptions
    from pytest_opcost.fresh import Fresh
    from pytest_opcost.seams import Step


@dataclass(frozen=True, slots=True)
class Check:
    """One check of one test: what is checked, under which options, and how steps are measured.

    `fresh` measures it again in other processes; `turn` is held while the step runs in this one; `tests` is the number
    of tests whose verdicts stand or fall together.
    """

    subject: Subject
    options: Options
    settings: CheckOptions
    fresh: Fresh
    turn: Callable[[str, str], AbstractContextManager[None]]
    tests: int = 1
    data: str | None = None

    @property
    def confirms(self) -> bool:
        """Whether no time fails it that fresh processes have not confirmed."""
        return self.options.confirm > 0 or self.fresh.base is not None

    def profile(self, step: Step) -> CostProfile:
        """One measurement of the step."""
        __tracebackhide__ = True
        device = self.subject.device
        with self.turn(self.subject.test, device):
            return seams.measure_step(step, self.options, self.settings, device)

    def run(self, step: Step) -> CheckResult:
        """Measure the step and judge it against its baseline; nothing is written here.

        Raises MeasureError, DeviceError or BaselineError where no judgement is possible.
        """
        __tracebackhide__ = True
        first = self.profile(step)
        if self.options.only_measure:
            return self.result(first, Verdict(Outcome.NOT_JUDGED, cost_judged=False))
        # A baseline is thousands of small objects, which collectors would look through again and again.
        with no_garbage_collection():
            return self._judged(first, step)

    def _judged(self, first: CostProfile, step: Step) -> CheckResult:
        """The result of comparing a measurement with what is known of the step, or of recording it."""
        __tracebackhide__ = True
        if (base := self.fresh.base) is not None:
            return self._compare_with(base, first)
        root, subject = self.options.baselines, self.subject
        path = baselines.baseline_path(root, first.environment.machine_key, subject.test, subject.check)
        if self.options.update is Update.ALL:
            # A damaged file is no reason to refuse the command that is meant to replace it.
            return recording.recorded(self, first, step, path)
        if path.exists():
            baseline = storage.load(path)
            result = self._compare(baseline, first, step)
            return (
                recording.with_rounds(self, result, baseline, step) if self.options.update is Update.ROUNDS else result
            )
        if self.options.update is Update.MISSING:
            return recording.recorded(self, first, step, path)
        if (other := storage.elsewhere(root, path, first.environment)) is not None:
            return self._compare_elsewhere(other, first, step)
        if self.options.missing is Missing.RECORD:
            return recording.recorded(self, first, step, path)
        message = f"no baseline on this machine ({self._shown(path)}); record one with: {self.subject.update_command}"
        finding = Finding(Kind.UNKNOWN, "baseline", "baseline", message, fails=self.options.missing is Missing.FAIL)
        return self.result(first, Verdict(Outcome.NOT_JUDGED, (finding,)), path=path)

    def failure(self, result: CheckResult) -> DriftError | BaselineError | None:
        """What a result fails the test with, or None where it does not: a drift, or that there is no baseline."""
        if not result.fails:
            return None
        if not result.compared:
            return BaselineError(
                f"{result.verdict.findings[0].message}\n"
                f"Expected for {self.subject.title}: a baseline in git, since CI compares and does not record of its "
                "own accord.\n"
                "To record it here: --opcost-update-missing. To go on without it, as long as other tests are judged: "
                "--opcost-missing=report."
            )
        return DriftError(
            failure_text(
                self.subject.title,
                result.verdict,
                result.baseline,
                result.origin,
                self.subject.update_command,
                result.causes,
            )
        )

    def _compare(self, baseline: Baseline, first: CostProfile, step: Step) -> CheckResult:
        __tracebackhide__ = True
        result = self._confirm(
            baseline,
            lambda measured: judge(baseline.reference, measured, self._rules()),
            first,
            step,
            origin=baseline.history,
        )
        if baseline.rounds >= FEWEST_ROUNDS or self.options.update is Update.ROUNDS:
            return result  # enough of them, or about to be
        remark = (
            f"the baseline holds {baseline.rounds} of the {FEWEST_ROUNDS} rounds or more that tell its noise, and sees "
            f"large changes only; record it anew: {self.subject.update_command}"
        )
        return replace(result, profile=replace(result.profile, remarks=(*result.profile.remarks, remark)))

    def _compare_elsewhere(self, other: Baseline, first: CostProfile, step: Step) -> CheckResult:
        __tracebackhide__ = True
        machine = other.profile.environment.machine_key
        return self._confirm(
            other,
            lambda measured: judge_elsewhere(other.profile, measured[0]),
            first,
            step,
            origin=f"recorded {other.recorded} on {machine}: exact facts only",
        )

    def _compare_with(self, base: Base, first: CostProfile) -> CheckResult:
        """The result of judging head's rounds against the base's, made in turns; more of them where they may differ."""
        __tracebackhide__ = True
        test, check, most = self.subject.test, self.subject.check, self.options.confirm
        pairs = self.fresh.pairs(test, check, self.options.rounds)
        if len(pairs.base) < FEWEST_ROUNDS:
            why = self.fresh.base_failure(test) or "no such check there"
            figures = f"only {len(pairs.base)} of {self.options.rounds} rounds" if pairs.base else "no figures"
            message = f"not judged: {base.title} has {figures} of it: {why}{base.hint(why)}"
            finding = Finding(Kind.UNKNOWN, "base", "base", message)
            return self.result(first, Verdict(Outcome.NOT_JUDGED, (finding,), cost_judged=False))

        def judged(head: Sequence[CostProfile], then: Sequence[CostProfile]) -> Verdict:
            return judge_pairs(
                head, then, self._rules(), in_turns=pairs.in_turns, other_torch=base.interpreter is not None
            )

        verdict, more = judged(pairs.head, pairs.base), 1
        while verdict.score > SUSPICIOUS / 2 and not settled(verdict) and len(pairs.head) < most:
            pairs = self.fresh.more_pairs(test, check, min(more, most - len(pairs.head)))
            verdict, more = judged(pairs.head, pairs.base), 2 * more
        verdict = reproduced(verdict, judged([first], pairs.base[:1]))
        # Pairs that do not compare were measured as well.
        verdict = replace(verdict, measurements=len(pairs.head))
        head, then = compared_rounds(pairs.head, pairs.base)
        there, here = recording.baseline_of(self, then, self.options.root), merged(head)
        here = with_facts_of(first, beside(there.profile, head, here) if pairs.in_turns else here)
        return replace(self.result(here, verdict, there, origin=f"{base.title}, measured beside it"), baseline="")

    def _confirm(
        self,
        baseline: Baseline,
        judged: Callable[[Sequence[CostProfile]], Verdict],
        first: CostProfile,
        step: Step,
        *,
        origin: str,
    ) -> CheckResult:
        """The result of judging the first measurement, and as many more as it takes."""
        __tracebackhide__ = True
        again = Again(lambda: self.profile(step), lambda: seams.fresh_profile(self, step), self.options.confirm)
        with self.fresh.asked_for(self.subject.test, self.subject.check):
            profile, verdict = confirmed(first, judged, again)
        return self.result(profile, verdict, baseline, origin=origin)

    def _rules(self) -> Rules:
        own = self.settings
        return Rules(
            dict(own.ratios),
            tolerance=own.tolerance,
            floor_us=own.floor,
            cheaper_fails=own.fail_on == "drift",
            tests=self.tests,
        )

    def result(
        self, profile: CostProfile, verdict: Verdict, baseline: Baseline | None = None,
        *, path: Path | None = None, origin: str = "", text: str | None = None, changes: tuple[str, ...] = (),
    ) -> CheckResult:  # fmt: skip
        forms = ratio_forms(profile, (name for name, _ in self.settings.ratios))
        return CheckResult(
            subject=self.subject,
            profile=profile,
            verdict=verdict,
            ratios={form: value for form in forms if (value := profile.ratio(form)) is not None},
            baseline=self._shown(path or (baseline.path if baseline else None)),
            baseline_ratios={form: ratio.value for form, ratio in baseline.ratios.items()} if baseline else {},
            compared=baseline is not None and text is None,
            top=self.settings.top,
            origin=origin,
            reported_only=self.settings.on_drift == "report",
            data=self.data,
            text=text,
            changes=changes,
            causes=causes(baseline.profile, profile, verdict.findings) if baseline else (),
        )

    def _shown(self, path: Path | None) -> str:
        return "" if path is None else str(paths.told(path, self.options.root))
