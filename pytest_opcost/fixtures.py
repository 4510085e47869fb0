"""The Lab's fixtures: its networks, the MNIST images on the device, and a step to profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_opcost.errors import OpcostError

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from pytest_opcost.workloads.mnist import Mnist
    from pytest_opcost.workloads.models import LeNet, LeNet5


@pytest.fixture(scope="session")
def mnist(request: pytest.FixtureRequest, opcost_device: torch.device) -> Mnist:
    """MNIST as tensors on the device, normalised: the folder given with --opcost-mnist, a download, or the sample."""
    from pytest_opcost.run import Run
    from pytest_opcost.workloads.mnist import load_mnist

    run = request.config.pluginmanager.get_plugin("opcost-run")
    if not isinstance(run, Run):
        pytest.skip("loads MNIST for operator-cost tests: needs --opcost")
    try:
        return load_mnist(run.mnist_source(), opcost_device)
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
