"""Hand-made runs for the tests of reports: a step with its data flow, a training, and both in one run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from records import CPU, result, step

from pytest_opcost.facts import Place
from pytest_opcost.flow import DataFlow, FlowNode
from pytest_opcost.results import RunResults
from pytest_opcost.training import Training

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.results import CheckResult

STARTED = "2026-11-28T10:15:30+01:00"


def _node(name: str, family: str, phase: str, module: str, output: str = "", us: float = 0.0) -> FlowNode:
    return FlowNode(name, family, Place(phase, module, "model.py:7"), output, us)


#: A convolution and an activation, there and back, and one parameter's update.
FLOW = DataFlow(
    (
        _node("input", "input", "forward", "layer1.0", "f32[2,1,4,4]"),
        _node("layer1.0.weight", "parameter", "forward", "layer1.0", "f32[3,1,3,3]"),
        _node("aten::convolution", "conv", "forward", "layer1.0", "f32[2,3,2,2]", 40.4),
        _node("aten::relu", "elementwise", "forward", "Net", "f32[2,3,2,2]", 0.2),
        _node("aten::relu", "elementwise", "forward", "Net", "f32[2,3,2,2]", 3.0),
        _node("aten::convolution_backward", "conv", "backward", "layer1.0", "f32[3,1,3,3] f32[3]", 60.0),
        _node("aten::add_", "elementwise", "optimizer", "", "f32[3,1,3,3]", 5.0),
    ),
    ((0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (1, 5), (5, 6), (1, 6)),
)


def flowing(cost: CostProfile | None = None) -> CostProfile:
    """A profile with `FLOW`."""
    return replace(cost or step(), flow=FLOW)


def training(**changes: object) -> Training:
    """Two epochs of batch 16 on 160 images, ten steps each, read every fifth step."""
    values: dict[str, object] = {
        "test": "tests/test_t.py::test_trains[cpu-16]",
        "model": "LeNet",
        "device": "cpu",
        "batch_size": 16,
        "epochs": 2,
        "images": 160,
        "test_images": 50,
        "environment": CPU,
        "data": "MNIST: 160 + 50 images",
        "hyperparameters": (("optimizer", "Adadelta"), ("learning rate", "1.0")),
        "steps": (5, 10, 15, 20),
        "losses": (2.0, 1.0, 0.5, 0.25),
        "accuracies": (0.25, 0.5, 0.75, 0.875),
        "test_losses": (0.75, 0.125),
        "test_accuracies": (0.8, 0.96),
        "epoch_seconds": (4.0, 6.0),
    }
    return Training(**{**values, **changes})  # type: ignore[arg-type]


def batches(*sizes: int, test: str = "tests/test_a.py::test_step") -> list[CheckResult]:
    """One test at several batch sizes on the CPU, a step twice as dear for twice as many images."""
    return [
        result(
            replace(step(every=float(size)), wall_us=1000.0 * size),
            test=f"{test}[cpu-{size}]",
            batch_size=size,
            ratios={"conv/addmm": 1.0 + size},
        )
        for size in sizes
    ]


def run(
    checks: Sequence[CheckResult] = (),
    trainings: Sequence[Training] = (),
    images: bytes = b"",
    started: str = STARTED,
) -> RunResults:
    return RunResults([CPU], checks, trainings, started, images)
