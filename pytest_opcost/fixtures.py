"""The Lab's fixtures: its networks, the MNIST images on the device, and a step to profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from pytest_opcost.training import Training
    from pytest_opcost.workloads.mnist import Mnist
    from pytest_opcost.workloads.models import LeNet, LeNet5


@pytest.fixture(scope="session")
def mnist(request: pytest.FixtureRequest, opcost_device: torch.device) -> Mnist:
    """MNIST as tensors on the device, normalised: the folder given with --opcost-mnist, a download, or the sample."""
    from pytest_opcost.errors import OpcostError
    from pytest_opcost.run import Run
    from pytest_opcost.workloads.mnist import load_mnist

    run = request.config.pluginmanager.get_plugin("opcost-run")
    if not isinstance(run, Run):
        pytest.skip("loads MNIST for operator-cost tests: needs --opcost")
    try:
        return load_mnist(run.mnist.source(), opcost_device)
    except OpcostError as error:
        return pytest.fail(str(error), pytrace=False)


@pytest.fixture
def lenet(opcost_device: torch.device) -> LeNet:
    """The network of the PyTorch MNIST sample, with the same weights in every run, on the device."""
    from pytest_opcost.workloads.models import LeNet, build

    return build(LeNet, opcost_device)


@pytest.fixture
def lenet5(opcost_device: torch.device) -> LeNet5:
    """The textbook's network, with the same weights in every run, on the device."""
    from pytest_opcost.workloads.models import LeNet5, build

    return build(LeNet5, opcost_device)


@pytest.fixture
def lenet_step(lenet: LeNet, mnist: Mnist, opcost_batch_size: int) -> Callable[[], None]:
    """One training step of `lenet` on one batch of MNIST, of `opcost_batch_size` images."""
    from pytest_opcost.workloads.steps import training_step

    return training_step(lenet, *mnist.batch(opcost_batch_size))


@pytest.fixture
def lenet_training(
    request: pytest.FixtureRequest, mnist: Mnist, opcost_device: torch.device, opcost_batch_size: int
) -> Training:
    """LeNet trained on MNIST with the Lab's recipe, for --opcost-epochs: the record of it, which the reports get too.

    By default it takes the Lab's 14 epochs, or one on the shipped sample.
    """
    from pytest_opcost.items import test_id
    from pytest_opcost.progress import training_bar
    from pytest_opcost.run import Run
    from pytest_opcost.workloads import training
    from pytest_opcost.workloads.models import LeNet

    run = request.config.pluginmanager.get_plugin("opcost-run")
    assert isinstance(run, Run)  # `mnist` has seen to it
    options = run.options
    if options.only_measure:
        pytest.skip("this process only measures checks again: put what needs a training into a test without opcost")
    epochs = options.epochs or training.default_epochs(mnist.source)
    plan = training.TrainingPlan(
        test_id(request.node), LeNet, str(opcost_device), opcost_batch_size, epochs, options.threads, options.quiet
    )
    title = f"LeNet {plan.device} batch {plan.batch_size}"
    bar = training_bar(request.config, title, training.steps_of(plan, mnist))
    with run.measuring.turn([plan.test], [plan.device]), bar as move:
        return training.train(plan, mnist, run.keep_training, move)
