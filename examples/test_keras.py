"""LeNet in nine lines of Keras, on its torch backend, beside plain torch: which operators the framework adds."""

from collections import Counter

import pytest
import torch
from torch import nn
from torch.nn import functional as F

# What Keras's own modules warn of is no fault of ours, where a project turns warnings into errors.
pytestmark = pytest.mark.filterwarnings("ignore:::keras")
BATCH = 16


@pytest.fixture
def keras(monkeypatch, tmp_path, opcost_device):
    """Keras on torch and on the device. Both variables are read when it is first imported, and not left behind."""
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))  # it writes its settings there: not into your home
    keras = pytest.importorskip("keras", reason="needs Keras 3: pip install keras")
    if keras.backend.backend() != "torch":
        pytest.skip(f"Keras was loaded before, on {keras.backend.backend()}")
    with keras.device(str(opcost_device)):
        yield keras


def keras_lenet(keras):
    """The textbook's listing, in the words of Keras 3: images (N, 32, 32, 1) -> probabilities (N, 10)."""
    layers = keras.layers
    model = keras.Sequential([keras.Input((32, 32, 1))])
    model.add(layers.Conv2D(filters=6, kernel_size=(3, 3), activation="relu"))
    model.add(layers.AveragePooling2D((2, 2)))
    model.add(layers.Conv2D(filters=16, kernel_size=(3, 3), activation="relu"))
    model.add(layers.AveragePooling2D((2, 2)))
    model.add(layers.Flatten())
    model.add(layers.Dense(units=120, activation="relu"))
    model.add(layers.Dense(units=84, activation="relu"))
    model.add(layers.Dense(units=10, activation="softmax"))
    return model


def torch_lenet(device):
    """The same in plain torch: images (N, 1, 32, 32) -> probabilities (N, 10)."""
    features = [nn.Conv2d(1, 6, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 3), nn.ReLU(), nn.AvgPool2d(2)]
    classes = [nn.Linear(576, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10), nn.Softmax(dim=1)]
    return nn.Sequential(*features, nn.Flatten(), *classes).to(device)


def inference_steps(keras, device):
    """A step of each network, on the same images."""
    plain, model = torch_lenet(device), keras_lenet(keras)
    assert model.count_params() == sum(parameter.numel() for parameter in plain.parameters())
    images = torch.rand(BATCH, 1, 32, 32, device=device)
    channels_last = images.permute(0, 2, 3, 1).contiguous()
    return torch.no_grad()(lambda: plain(images)), torch.no_grad()(lambda: model(channels_last))


def training_steps(keras, device):
    """A training step of each network: in torch as one writes it, in Keras one call."""
    plain, model = torch_lenet(device), keras_lenet(keras)
    images = torch.rand(BATCH, 1, 32, 32, device=device)
    channels_last, labels = images.permute(0, 2, 3, 1).contiguous(), torch.randint(10, (BATCH,), device=device)
    sgd = torch.optim.SGD(plain.parameters(), lr=0.01)
    model.compile(keras.optimizers.SGD(0.01), loss="sparse_categorical_crossentropy")

    def step():
        sgd.zero_grad()
        F.nll_loss(plain(images).log(), labels).backward()
        sgd.step()

    return step, lambda: model.train_on_batch(channels_last, labels)


@pytest.mark.parametrize("steps", [inference_steps, training_steps])
def test_step(opcost, opcost_device, keras, steps):
    plain, with_keras = steps(keras, opcost_device)
    opcost.check(plain, name="torch")
    opcost.check(with_keras, name="keras")


@pytest.mark.parametrize("steps", [inference_steps, training_steps])
def test_what_keras_adds(opcost, opcost_device, keras, steps):
    """The same convolutions and products, and more besides; `-s` shows what."""
    plain, with_keras = map(opcost.profile, steps(keras, opcost_device))
    calls, calls_with_keras = calls_of(plain), calls_of(with_keras)
    print("\ncalled more often by Keras:", told(calls_with_keras - calls))
    print("called more often by torch:", told(calls - calls_with_keras))
    assert conv_flops(with_keras) == conv_flops(plain) > 0
    assert with_keras.flops == plain.flops
    assert calls_with_keras.total() > calls.total()


def calls_of(profile):
    return Counter({op.name: op.calls for op in profile.ops})


def conv_flops(profile):
    return sum(op.facts.flops for op in profile.ops if op.family == "conv")


def told(calls):
    return ", ".join(f"{count} {name}" for name, count in calls.most_common())
