"""The result of one check, as a record and as plain data: what the JSON file holds, and what a worker sends home."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pytest_opcost.costs import ColdStep, CostProfile, Environment, OpCost
from pytest_opcost.facts import OpFacts, Place
from pytest_opcost.judge import Cause, Finding, Kind, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Subject:
    """What was checked: the test's id, the check's name (if given), and the parameters that opcost itself set.

    `family` is the id without those parameters: tests that differ in device and batch size alone share it.
    """

    test: str
    check: str | None
    family: str
    device: str
    batch_size: int | None

    @property
    def title(self) -> str:
        """The id as it is shown: the test's, with the check's name behind."""
        return self.test if self.check is None else f"{self.test} ({self.check})"


def _op(data: Mapping[str, Any]) -> OpCost:
    return OpCost(**{**data, "samples": tuple(data["samples"]), "facts": _facts(data["facts"])})


def _cold(data: Mapping[str, Any]) -> ColdStep:
    return ColdStep(**{**data, "ops": tuple((name, host, device) for name, host, device in data["ops"])})


def _facts(data: Mapping[str, Any] | None) -> OpFacts | None:
    if data is None:
        return None
    counts = {name: tuple((one, count) for one, count in data[name]) for name in ("inputs", "kernels")}
    places = tuple(Place(**place) for place in data["places"])
    return OpFacts(**{**data, **counts, "places": places, "varying": tuple(data["varying"])})


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

    def to_data(self) -> dict[str, Any]:
        """The result in plain data, which `from_data` reads back; JSON can hold it."""
        profile = self.profile
        return {
            "test": self.subject.test,
            "check": self.subject.check,
            "family": self.subject.family,
            "device": self.subject.device,
            "batch_size": self.subject.batch_size,
            "verdict": self.verdict.outcome.value,
            "measurements": self.verdict.measurements,
            "seen_from": dict(self.verdict.seen),
            "machine_factor": self.verdict.factor,
            "reported_only": self.reported_only,
            "compared": self.compared,
            "baseline": self.baseline,
            "origin": self.origin,
            "data": self.data,
            "steps": profile.steps,
            "step_us": profile.wall_us,
            "total_host_us": profile.total_host_us,
            "total_device_us": profile.total_device_us,
            "load": profile.load,
            "negative_clamped": profile.negative_clamped,
            "flops": profile.flops,
            "remarks": list(profile.remarks),
            "kernel_names": dict(profile.kernel_names),
            "autograd_nodes": profile.autograd_nodes,
            "cold": asdict(profile.cold) if profile.cold else None,
            "top": self.top,
            "ops": [asdict(op) for op in profile.ops],
            "ratios": dict(self.ratios),
            "baseline_ratios": dict(self.baseline_ratios),
            "findings": [{**asdict(finding), "kind": finding.kind.value} for finding in self.verdict.findings],
            "causes": [asdict(cause) for cause in self.causes],
            "environment": asdict(profile.environment),
            "text": self.text,
            "changes": list(self.changes),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> CheckResult:
        """The inverse of `to_data`."""
        environment = {**data["environment"]}
        for name in ("settings", "details"):
            environment[name] = tuple((key, value) for key, value in environment[name])
        profile = CostProfile(
            environment=Environment(**environment),
            steps=data["steps"],
            ops=tuple(_op(op) for op in data["ops"]),
            wall_us=data["step_us"],
            total_host_us=data["total_host_us"],
            total_device_us=data["total_device_us"],
            load=data["load"],
            cold=_cold(data["cold"]) if data["cold"] else None,
            remarks=tuple(data["remarks"]),
            negative_clamped=data["negative_clamped"],
            autograd_nodes=data["autograd_nodes"],
            kernel_names=tuple((short, full) for short, full in data["kernel_names"].items()),
        )
        findings = tuple(Finding(**{**finding, "kind": Kind(finding["kind"])}) for finding in data["findings"])
        return cls(
            subject=Subject(data["test"], data["check"], data["family"], data["device"], data["batch_size"]),
            profile=profile,
            verdict=Verdict(
                Outcome(data["verdict"]),
                findings,
                data["machine_factor"],
                data["measurements"],
                seen=tuple(data["seen_from"].items()),
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
