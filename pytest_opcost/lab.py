"""What the Lab's fixtures do once a test asks for one: load MNIST, train LeNet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_opcost.errors import OpcostError
from pytest_opcost.items import test_id
from pytest_opcost.progress import training_bar
from pytest_opcost.run import Run

if TYPE_CHECKING:
    import torch

    from pytest_opcost.training import Training
    from pytest_opcost.workloads.mnist import Mnist


def load(request: pytest.FixtureRequest, device: torch.device) -> Mnist:
    """MNIST on the device; skips without --opcost, fails where there is no data set."""
    from pytest_opcost.workloads.mnist import load_mnist

    run = request.config.pluginmanager.get_plugin("opcost-run")
    if not isinstance(run, Run):
        pytest.skip("loads MNIST for operator-cost tests: needs --opcost")
    try:
        return load_mnist(run.mnist.source(), device)
    except OpcostError as error:
        why = str(error)
    return pytest.fail(why, pytrace=False)  # out here, else pytest tells both, one in handling the other


def train(request: pytest.FixtureRequest, mnist: Mnist, device: torch.device, batch_size: int) -> Training:
    """LeNet trained for as many epochs as the run was told; skips in a process that only measures checks again."""
    from pytest_opcost.workloads import training
    from pytest_opcost.workloads.models import LeNet

    run = request.config.pluginmanager.get_plugin("opcost-run")
    assert isinstance(run, Run)  # `load` has seen to it
    options = run.options
    if options.only_measure:
        pytest.skip("this process only measures checks again: put what needs a training into a test without opcost")
    epochs = options.epochs or training.default_epochs(mnist.source)
    plan = training.TrainingPlan(
        test_id(request.node), LeNet, str(device), batch_size, epochs, options.threads, options.quiet
    )
    title = f"LeNet {plan.device} batch {plan.batch_size}"
    bar = training_bar(request.config, title, training.steps_of(plan, mnist))
    with run.measuring.turn([plan.test], [plan.device]), bar as move:
        return training.train(plan, mnist, run.keep_training, move)
