"""Hand-made records for the unit tests: operators, profiles, baselines and results, in a line each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.baselines import Baseline, Session
from pytest_opcost.costs import CostProfile, Environment, OpCost, RecordedRatio, with_shares
from pytest_opcost.families import family_of
from pytest_opcost.judge import Finding, Kind, Outcome, Reference, Verdict
from pytest_opcost.results import CheckResult, Subject

if TYPE_CHECKING:
    from pytest_opcost.facts import OpFacts

CPU = Environment(
    device="cpu",
    device_name="Test CPU 9000",
    capability="x86_64 AVX2",
    torch="2.11.0+cpu",
    threads=1,
    allocator="quiet",
    settings=(("mkldnn", "on"), ("threads", "1")),
    details=(("os", "Linux 6.1"), ("python", "3.12.1")),
)
CUDA = replace(
    CPU, device="cuda", device_name="NVIDIA H100 80GB HBM3", capability="9.0", settings=(("cudnn_tf32", "on"),)
)

#: One step in microseconds; 1,000 in all, so that a share is a thousandth of the figure.
STEP = {
    "aten::mkldnn_convolution": 400.0,
    "aten::addmm": 200.0,
    "aten::max_pool2d_with_indices": 150.0,
    "aten::relu": 100.0,
    "aten::bernoulli_": 80.0,
    "aten::_log_softmax": 70.0,
}


def op(
    name: str,
    us: float = 0.0,
    *,
    device_us: float = 0.0,
    calls: int = 1,
    forward: float = 1.0,
    varying: bool = False,
    samples: tuple[float, ...] = (),
    family: str | None = None,
    facts: OpFacts | None = None,
) -> OpCost:
    """An operator; its share is left to `profile`."""
    family = family_of(name) if family is None else family
    return OpCost(name, family, calls, us, device_us, 0.0, forward, varying, samples, facts)


def profile(
    *ops: OpCost, environment: Environment = CPU, load: float = 0.0, wall_us: float = 1234.5, pace_us: float = 0.0
) -> CostProfile:
    """A profile of these operators, with shares."""
    return with_shares(
        CostProfile(
            environment=environment,
            steps=30,
            ops=ops,
            wall_us=wall_us,
            total_host_us=sum(one.self_host_us for one in ops),
            total_device_us=sum(one.self_device_us for one in ops),
            load=load,
            pace_us=pace_us,
        )
    )


def step(**changes: float) -> CostProfile:
    """`STEP` as a profile, with the time of operators whose name ends in a keyword multiplied; `every` is for all."""
    every = changes.pop("every", 1.0)
    factors = {name: next((f for end, f in changes.items() if name.endswith(end)), 1.0) for name in STEP}
    assert sum(factor != 1 for factor in factors.values()) >= len(changes), "a keyword that fits no operator"
    return profile(*(op(name, us * factors[name] * every) for name, us in STEP.items()))


def on_device(host: CostProfile) -> CostProfile:
    """The same profile with the host's times as the device's: the device's clock counts."""
    ops = (replace(one, self_device_us=one.self_host_us, self_host_us=1.0) for one in host.ops)
    return profile(*ops, environment=CUDA, load=host.load)


def ratio(value: float, spread: float = 0.0) -> RecordedRatio:
    return RecordedRatio(value, spread)


def baseline(
    cost: CostProfile | None = None,
    *,
    test: str = "tests/test_a.py::test_step[cpu-16]",
    check: str | None = None,
    path: Path = Path("baselines/machine/a.yaml"),
) -> Baseline:
    cost = cost or step()
    rounds = max((len(one.samples) for one in cost.ops), default=0) or 1
    sessions = (Session("2026-11-27", rounds, cost.load),)
    return Baseline(test, check, "2026-11-27", cost, {"conv/addmm": ratio(2.0, 0.012345)}, path, sessions)


def reference(cost: CostProfile, *sessions: int, **more: object) -> Reference:
    """What is compared with: this profile, recorded in five rounds that are known by their median alone."""
    return Reference(cost, sessions or (5,), **more)  # type: ignore[arg-type]


def sampled(cost: CostProfile, *factors: float) -> CostProfile:
    """The same profile with rounds in which every operator cost so many times as much."""
    return replace(
        cost, ops=tuple(replace(one, samples=tuple(f * cost.cost_us(one) for f in factors)) for one in cost.ops)
    )


def finding(kind: Kind = Kind.DEARER, name: str = "aten::mm", change: float = 0.5, **more: object) -> Finding:
    """A finding that fails, unless its kind never does."""
    fails = kind not in (Kind.NOISE, Kind.CHEAPER, Kind.MACHINE, Kind.UNKNOWN)
    values = {"message": f"{name} moved", "baseline": 1.0, "current": 1.5, "change": change, "fails": fails, **more}
    return Finding(kind, name, "addmm", **values)  # type: ignore[arg-type]


def result(
    cost: CostProfile | None = None,
    outcome: Outcome = Outcome.PASSED,
    *findings: Finding,
    test: str = "tests/test_a.py::test_step[cpu-16]",
    check: str | None = None,
    device: str = "cpu",
    batch_size: int | None = 16,
    **more: object,
) -> CheckResult:
    """A result of a comparison; `more` are other fields of `CheckResult`."""
    values = {
        "ratios": {"conv/addmm": 2.0},
        "baseline": "baselines/machine/a.yaml",
        "baseline_ratios": {"conv/addmm": 1.95},
        "compared": True,
        "top": 10,
        **more,
    }
    subject = Subject(test, check, test.partition("[")[0], device, batch_size)
    return CheckResult(subject, cost or step(), Verdict(outcome, findings), **values)  # type: ignore[arg-type]
