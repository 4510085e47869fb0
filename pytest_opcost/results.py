"""The result of one check, as a record and as plain data: what the JSON file holds, and what a worker sends home."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pytest_opcost.baselines import update_command
from pytest_opcost.judge import Cause, Compared, Finding, Kind, Outcome, Verdict
from pytest_opcost.plain import profile_data, profile_from

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_opcost.costs import CostProfile, Environment
    from pytest_opcost.training import Training


@dataclass(frozen=True, slots=True)
class Subject:
    """What was checked: the test's id, the check's name (if given), and the parameters that opcost itself set.

    `family` is the id without those parameters: tests that differ in device and batch size alone share it. `options`
    are those without which pytest would not find the test, or its baseline.
    """

    test: str
    check: str | None
    family: str
    device: str
    batch_size: int | None
    options: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The id as it is shown: the test's, with the check's name behind."""
        return self.test if self.check is None else f"{self.test} ({self.check})"

    @property
    def update_command(self) -> str:
        """The command that takes its new figures over."""
        return update_command(self.test, self.options)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check from top to bottom.

    `baseline` is the file that it was compared with or recorded in, `origin` says when and where that was made;
    `text` is the file's new content where it is to be written, `changes` say what that changes. `causes` say why the
    verdict fails, what explains the most first. `compared` tells
    whether anything was compared at all.
    """

    subject: Subject
    profile: CostProfile
    verdict: Verdict
    ratios: Mapping[str, float]
    baseline: str
    baseline_ratios: Mapping[str, float]
    compared: bool
    top: int
    origin: str = ""
    reported_only: bool = False
    data: str | None = None
    text: str | None = None
    changes: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether the verdict fails the test; a drift may be there to be reported only, a missing baseline is not."""
        return bool(self.verdict.failing) and not (self.compared and self.reported_only)

    def to_data(self) -> dict[str, Any]:
        """The result in plain data, which `from_data` reads back; JSON can hold it."""
        return {
            "test": self.subject.test,
            "check": self.subject.check,
            "family": self.subject.family,
            "device": self.subject.device,
            "batch_size": self.subject.batch_size,
            "options": list(self.subject.options),
            "verdict": self.verdict.outcome.value,
            "measurements": self.verdict.measurements,
            "seen_from": dict(self.verdict.seen),
            "compared_ops": [asdict(one) for one in self.verdict.compared],
            "ratio_bands": dict(self.verdict.ratio_bands),
            "machine_factor": self.verdict.factor,
            "reported_only": self.reported_only,
            "compared": self.compared,
            "baseline": self.baseline,
            "origin": self.origin,
            "data": self.data,
            **profile_data(self.profile),
            "top": self.top,
            "ratios": dict(self.ratios),
            "baseline_ratios": dict(self.baseline_ratios),
            "findings": [{**asdict(finding), "kind": finding.kind.value} for finding in self.verdict.findings],
            "causes": [asdict(cause) for cause in self.causes],
            "text": self.text,
            "changes": list(self.changes),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> CheckResult:
        """The inverse of `to_data`."""
        findings = tuple(
            Finding(**{**one, "kind": Kind(one["kind"]), "took_us": one["took_us"] and tuple(one["took_us"])})
            for one in data["findings"]
        )
        return cls(
            subject=Subject(
                data["test"],
                data["check"],
                data["family"],
                data["device"],
                data["batch_size"],
                tuple(data["options"] or ()),
            ),
            profile=profile_from(data),
            verdict=Verdict(
                Outcome(data["verdict"]),
                findings,
                data["machine_factor"],
                data["measurements"],
                seen=tuple(data["seen_from"].items()),
                compared=tuple(Compared(**one) for one in data["compared_ops"]),
                ratio_bands=tuple((data["ratio_bands"] or {}).items()),
            ),
            ratios=data["ratios"],
            baseline=data["baseline"],
            baseline_ratios=data["baseline_ratios"],
            compared=data["compared"],
            top=data["top"],
            origin=data["origin"],
            reported_only=data["reported_only"],
            data=data["data"],
            text=data["text"],
            changes=tuple(data["changes"]),
            causes=tuple(Cause(**{**cause, "explains": tuple(cause["explains"])}) for cause in data["causes"]),
        )


@dataclass(frozen=True, slots=True)
class RunResults:
    """All that one run of pytest found, which is what reports are made of.

    `environments` are those of the devices that were asked for, `started` is the run's start in ISO format. `images`
    are the first training images, 28 x 28 grey pixels of a byte each, none where no test used MNIST.
    """

    environments: Sequence[Environment]
    checks: Sequence[CheckResult]
    trainings: Sequence[Training]
    started: str
    images: bytes = b""
