"""What a step costs at some point of a training, measured without disturbing the training."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from pytest_opcost.measure import measure
from pytest_opcost.workloads.steps import training_step
from pytest_opcost.workloads.training.random_state import random_state_kept

if TYPE_CHECKING:
    from torch import Tensor

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.measure import Plan
    from pytest_opcost.workloads.models import LeNet, LeNet5


def step_cost(model: LeNet | LeNet5, images: Tensor, labels: Tensor, plan: Plan) -> CostProfile:
    """The cost of an eager training step on this batch, run on a copy of the model with an optimizer of its own.

    The model, its optimizer and the random numbers go on as if there had been no such step. Raises DeviceError where
    the profiler sees none of the device's kernels, MeasureError where another profiler is at work.
    """
    with random_state_kept(images.device):
        return measure(training_step(deepcopy(model), images, labels), plan)
