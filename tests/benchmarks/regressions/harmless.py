"""Refactorings that change no operator's work, all of which must pass."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pytest_opcost.workloads.models import LeNet, LeNet5, build
from pytest_opcost.workloads.steps import inference_step
from regressions.case import Case, Step, classes, inference, random, seeded, training
from regressions.data import encoder_infer, lenet_infer, lenet_train, mlp_infer, residual_infer
from regressions.elsewhere import MovedLeNet
from regressions.model import mlp_classify
from regressions.networks import Attention, Mlp, Residual


class Renamed(nn.Module):
    """Other names for the same modules."""

    def __init__(self) -> None:
        super().__init__()
        self.stage_a = nn.Conv2d(1, 32, 3)
        self.stage_b = nn.Conv2d(32, 64, 3)
        self.drop_a, self.drop_b = nn.Dropout(0.25), nn.Dropout(0.5)
        self.hidden = nn.Linear(64 * 12 * 12, 128)
        self.classifier = nn.Linear(128, 10)

    def forward(self, images: Tensor) -> Tensor:
        out = F.relu(self.stage_b(F.relu(self.stage_a(images))))
        out = torch.flatten(self.drop_a(F.max_pool2d(out, 2)), 1)
        out = self.classifier(self.drop_b(F.relu(self.hidden(out))))
        return F.log_softmax(out, dim=1)

    def loss(self, log_probabilities: Tensor, labels: Tensor) -> Tensor:
        return F.nll_loss(log_probabilities, labels)


class Reordered(Mlp):
    """The definitions in another order."""

    def __init__(self, hidden: int = 512) -> None:
        nn.Module.__init__(self)
        self.fc3 = nn.Linear(hidden, 10)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc1 = nn.Linear(256, hidden)


def sequential(hidden: int = 512) -> nn.Module:
    """One nn.Sequential instead of a class."""
    layers = [("fc1", nn.Linear(256, hidden)), ("relu1", nn.ReLU()), ("fc2", nn.Linear(hidden, hidden))]
    return nn.Sequential(OrderedDict([*layers, ("relu2", nn.ReLU()), ("fc3", nn.Linear(hidden, 10))]))


class Functional(Residual):
    """Functions instead of modules."""

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.stem(x), inplace=True)
        out = F.relu_(self._normal(self.conv1(x), self.bn1))
        out = F.relu_(self._normal(self.conv2(out), self.bn2) + x)
        return F.linear(out.mean((2, 3)), self.head.weight, self.head.bias)

    def _normal(self, x: Tensor, bn: nn.BatchNorm2d) -> Tensor:
        return F.batch_norm(x, bn.running_mean, bn.running_var, bn.weight, bn.bias, False, bn.momentum, bn.eps)


class Commented(Mlp):
    """Comments, docstrings and type hints, and a name for each value."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits."""
        # The first layer sees the whole input.
        first: Tensor = F.relu(self.fc1(x))
        # The second mixes what the first found.
        second: Tensor = F.relu(self.fc2(first))
        return self.fc3(second)


class Extracted(Mlp):
    """A function of its own for what was written twice."""

    def forward(self, x: Tensor) -> Tensor:
        return self.fc3(self._activated(self.fc2, self._activated(self.fc1, x)))

    @staticmethod
    def _activated(layer: nn.Module, x: Tensor) -> Tensor:
        return F.relu(layer(x))


class Reshaping(LeNet5):
    """`reshape` instead of `view`, of what is contiguous."""

    def forward(self, images: Tensor) -> Tensor:
        out = F.max_pool2d(F.relu(self.conv1(images)), 2)
        out = F.max_pool2d(F.relu(self.conv2(out)), 2)
        out = F.relu(self.fc1(out.reshape(out.size(0), -1)))
        return self.fc3(F.relu(self.fc2(out)))


class Flattening(LeNet5):
    """`flatten` instead of `view`."""

    def forward(self, images: Tensor) -> Tensor:
        out = F.max_pool2d(F.relu(self.conv1(images)), 2)
        out = F.max_pool2d(F.relu(self.conv2(out)), 2)
        out = F.relu(self.fc1(torch.flatten(out, 1)))
        return self.fc3(F.relu(self.fc2(out)))


class Transposing(Attention):
    """The heads are taken apart by other views of the same memory."""

    def heads(self, x: Tensor) -> list[Tensor]:
        parts = self.qkv(x).chunk(3, dim=-1)
        return [part.unflatten(2, (4, 16)).permute(0, 2, 1, 3) for part in parts]


class Methods(Residual):
    """Methods of tensors, and the sum written the other way round."""

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x).relu_()
        out = self.bn1(self.conv1(x)).relu_()
        out = torch.add(x, self.bn2(self.conv2(out))).relu_()
        return self.head(torch.mean(out, dim=(2, 3)))


class Keywords(LeNet):
    """Keywords instead of positions, and what was the default anyway."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels=1, out_channels=32, kernel_size=(3, 3), stride=1, padding=0, groups=1)
        self.fc2 = nn.Linear(in_features=128, out_features=10, bias=True)


class Subclass(Mlp):
    """A subclass that adds nothing to the step."""

    def __init__(self, hidden: int = 512) -> None:
        super().__init__(hidden)
        self.classes = [str(index) for index in range(10)]

    def name_of(self, index: int) -> str:
        return self.classes[index]


class Wrapped(nn.Module):
    """The model inside of another one, so that every module's path is another."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = LeNet()

    def forward(self, images: Tensor) -> Tensor:
        return self.backbone(images)

    def loss(self, log_probabilities: Tensor, labels: Tensor) -> Tensor:
        return self.backbone.loss(log_probabilities, labels)


def lenet5_infer(device: torch.device, model: type[LeNet5] = LeNet5) -> Step:
    return inference_step(build(model, device), random(device, 16, 3, 32, 32))


def lenet5_train(device: torch.device, model: type[LeNet5] = LeNet5) -> Step:
    network = build(model, device)
    return training(network, random(device, 16, 3, 32, 32), lambda out: network.loss(out, classes(device, 16)))


def residual(device: torch.device, model: type[nn.Module]) -> Step:
    return inference(seeded(model, device), random(device, 4, 3, 32, 32))


HARMLESS = (
    Case("renamed", "modules have other names", lenet_train, partial(lenet_train, model=Renamed)),
    Case("wrapped", "the model lies in another one", lenet_train, partial(lenet_train, model=Wrapped)),
    Case("reordered", "definitions stand in another order", mlp_classify, partial(mlp_classify, model=Reordered)),
    Case("sequential", "nn.Sequential instead of a class", mlp_classify, partial(mlp_classify, model=sequential)),
    Case("functional", "functions instead of modules", residual_infer, partial(residual, model=Functional)),
    Case("comments", "comments, docstrings and type hints", mlp_classify, partial(mlp_classify, model=Commented)),
    Case("extracted", "a function for what was written twice", mlp_infer, partial(mlp_infer, model=Extracted)),
    Case("reshape", "reshape instead of view", lenet5_train, partial(lenet5_train, model=Reshaping)),
    Case("flatten", "flatten instead of view", lenet5_infer, partial(lenet5_infer, model=Flattening)),
    Case("views", "other views of the same memory", encoder_infer, partial(encoder_infer, attention=Transposing)),
    Case("methods", "methods of tensors, a sum the other way round", residual_infer, partial(residual, model=Methods)),
    Case("keywords", "keywords and defaults written out", lenet_infer, partial(lenet_infer, model=Keywords)),
    Case("subclass", "a subclass with a method more", mlp_infer, partial(mlp_infer, model=Subclass)),
    Case("moved", "the model lives in another file", lenet_infer, partial(lenet_infer, model=MovedLeNet)),
)
