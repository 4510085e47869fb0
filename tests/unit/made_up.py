"""Made-up runs for reports: as many tests as one likes, on a CPU and on a device, with every kind of verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from records import CPU, CUDA, finding, op, profile, result

from pytest_opcost.costs import ColdStep
from pytest_opcost.facts import OpFacts, Place
from pytest_opcost.flow import DataFlow, FlowNode
from pytest_opcost.judge import Cause, Compared, Kind, Outcome
from pytest_opcost.results import CheckResult, RunResults
from pytest_opcost.timeline import Span
from pytest_opcost.training import Training

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile

#: Operators of a step by their microseconds a sample, and microseconds whatever the batch.
_OPERATORS = {
    "aten::mkldnn_convolution": (60.0, 90.0), "aten::convolution_backward": (90.0, 120.0), "aten::addmm": (9.0, 60.0),
    "aten::mm": (15.0, 80.0), "aten::max_pool2d_with_indices": (20.0, 10.0), "aten::add_": (1.0, 40.0),
    "aten::threshold_backward": (8.0, 9.0), "aten::mul": (2.0, 8.0), "aten::bernoulli_": (7.0, 6.0),
    "aten::_log_softmax": (1.0, 9.0), "aten::empty": (0.1, 12.0), "aten::copy_": (0.5, 5.0),
}  # fmt: skip
FLOW = DataFlow(
    (
        FlowNode("conv1.weight", "parameter", Place("forward", "conv1"), "f32[32,1,3,3]"),
        FlowNode("aten::convolution", "conv", Place("forward", "conv1"), "f32[16,32,26,26]", 300.0),
        FlowNode("aten::addmm", "addmm", Place("forward", "fc1"), "f32[16,128]", 100.0),
    ),
    ((0, 1), (1, 2)),
)


def made_up_profile(batch: int, *, device: bool = False, conv: float = 1.0) -> CostProfile:
    """A step's profile at a batch size; on a device 20 times as fast, its host launching."""
    ops = []
    for name, (a_sample, fixed) in _OPERATORS.items():
        us = (a_sample * batch + fixed) * (conv if "conv" in name else 1.0)
        facts = OpFacts(
            inputs=((f"f32[{batch},32,26,26] f32[64,32,3,3]", 2),),
            flops=batch * 1_000_000 if "conv" in name or "mm" in name else 0,
            kernels=(("gemm", 2), ("im2col", 1)) if "mm" in name or "conv" in name else (),
            places=(Place("forward", "conv1", "model.py:31"),),
        )
        ops.append(op(name, 12.0 if device else us, device_us=us / 20 if device else 0.0, calls=2, facts=facts))
    made = profile(*ops, environment=CUDA if device else CPU)
    cold = ColdStep(90_000.0, 80_000.0, 100.0, (("aten::addmm", 40_000.0, 20.0), ("aten::empty", 500.0, 0.0)))
    spans = (
        Span("aten::addmm", "operator", "host 1", 1.0, 20.0),
        *((Span("gemm", "device", "device", 25.5, 8.25),) if device else ()),
    )
    return replace(
        made, wall_us=1.2 * made.total_host_us + 30, cold=cold, timeline=spans,
        kernel_names=(("gemm", "void cutlass::gemm<float, 128>(Params)"),),
    )  # fmt: skip


def made_up_result(test: str, batch: int, device: str = "cpu", outcome: Outcome = Outcome.PASSED) -> CheckResult:
    """One configuration's result; one that drifted names its operator and cause."""
    on_device = device != "cpu"
    made = made_up_profile(batch, device=on_device)
    findings = {
        Outcome.DRIFTED: [
            finding(Kind.DEARER, "aten::addmm", 0.3, message="aten::addmm: 91 us a step, was 70 us (+30 %)")
        ],
        Outcome.INCONCLUSIVE: [finding(Kind.NOISE, "aten::mm", 0.1)],
    }.get(outcome, [])
    compared = tuple(
        Compared(one.name, made.cost_us(one) / (1 + own), made.cost_us(one), own, 0.12)
        for one in made.ops[:8]
        for own in [0.3 if findings and one.name == "aten::addmm" else 0.01]
    )
    found = result(
        made, outcome, *findings, test=f"{test}[{device}-{batch}]", device=device, batch_size=batch,
        ratios={"conv/addmm": made.ratio("conv/addmm")}, baseline_ratios={"conv/addmm": 2.0},
        origin="recorded 2026-11-27",
        causes=(Cause("kernel_changed", "another kernel: gemm", "aten::addmm"),) if outcome is Outcome.DRIFTED else (),
    )  # fmt: skip
    return replace(found, verdict=replace(found.verdict, compared=compared, ratio_bands=(("conv/addmm", 0.041),)))


def made_up_training(batch: int = 64, device: str = "cpu") -> Training:
    """A training of two epochs."""
    steps = tuple(range(1, 33, 2))
    return Training(
        test="tests/test_training.py::test_training", model="LeNet", device=device, batch_size=batch, epochs=2,
        images=1024, test_images=500, environment=CPU, data="the shipped sample",
        hyperparameters=(("optimizer", "Adadelta"),),
        steps=steps, losses=tuple(2.3 / step for step in steps), accuracies=tuple(1 - 0.9 / step for step in steps),
        test_losses=(0.4, 0.3), test_accuracies=(0.88, 0.9114), epoch_seconds=(1.0, 0.9),
        costs=(("start", made_up_profile(batch)), ("end", made_up_profile(batch))),
    )  # fmt: skip


def made_up_run(*checks: CheckResult, trainings: tuple[Training, ...] = ()) -> RunResults:
    """A run with these results."""
    return RunResults([], checks, trainings, "2026-11-28T10:58:00+00:00")


def many(tests: int) -> RunResults:
    """A run of so many configurations, 12 for each test: six batch sizes on two devices."""
    outcomes = [Outcome.PASSED] * 8 + [Outcome.DRIFTED, Outcome.INCONCLUSIVE, Outcome.RECORDED]
    checks = [
        made_up_result(
            f"tests/test_models.py::test_model_{index // 12}", 2 ** (index % 6), ("cpu", "cuda")[index // 6 % 2],
            outcomes[index % len(outcomes)],
        )
        for index in range(tests)
    ]  # fmt: skip
    return made_up_run(*checks, trainings=(made_up_training(), made_up_training(16)))
