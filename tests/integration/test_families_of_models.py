"""What real models and optimizers run, as the plugin's own profiler names it: every operator has a family."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.families import family_of

torch = pytest.importorskip("torch")
models = pytest.importorskip("torchvision").models
from torch import nn  # noqa: E402 - after the skip

from pytest_opcost.measure import events  # noqa: E402 - imports numpy and torch

if TYPE_CHECKING:
    from collections.abc import Callable

# Few that have most of all operators of torchvision's classifiers between them: attention in windows, squeeze and
# excitation, grouped and depthwise convolutions, concatenation, plain attention, pooling of odd sizes.
CLASSIFIERS: dict[str, Callable[[], nn.Module]] = {
    "alexnet": lambda: models.alexnet(),
    "densenet": lambda: models.DenseNet(8, (1, 1), 8),
    "mobilenet_v3_small": lambda: models.mobilenet_v3_small(),
    "shufflenet_v2_x0_5": lambda: models.shufflenet_v2_x0_5(),
    "swin_v2_t": lambda: models.swin_v2_t(),
    "vit": lambda: models.VisionTransformer(64, 16, num_layers=1, num_heads=2, hidden_dim=32, mlp_dim=64),
}


@pytest.fixture(autouse=True)
def _one_thread():
    """The steps are small, and the other cores may have other work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _families(step: Callable[[], object]) -> dict[str, str]:
    """The family of each operator and autograd node of the step; none of them may be without one."""
    with events.recorded(None) as profile:
        step()
    (found,) = profile
    measured = {
        index for index, kind in zip(found.name, found.kind) if kind in (events.Kind.OPERATOR, events.Kind.BACKWARD)
    }
    families = {found.names[index]: family_of(found.names[index]) for index in measured}
    assert {name for name, family in families.items() if family == name} == set()
    assert {family for name, family in families.items() if "Backward" in name} <= {"autograd"}
    return families


def _train(model: nn.Module, *inputs: torch.Tensor) -> Callable[[], object]:
    """A step that trains every parameter."""

    def step() -> None:
        out = model(*inputs)
        out = out[0] if isinstance(out, tuple) else out
        nn.functional.cross_entropy(out.flatten(1), torch.ones(len(out), dtype=torch.long)).backward()

    return step


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier(name):
    model = CLASSIFIERS[name]()
    images = torch.randn(2, 3, 64, 64)
    families = _families(_train(model, images))
    assert families["aten::convolution_backward"] == "conv"
    assert families["aten::addmm"] == families["aten::mm"] == "addmm"
    assert families["aten::nll_loss_backward"] == "loss"
    assert families["autograd::engine::evaluate_function: AddmmBackward0"] == families["AddmmBackward0"] == "autograd"

    model.eval()
    with torch.inference_mode():
        assert {"conv", "addmm", "view", "allocate"} <= set(_families(lambda: model(images)).values())


def test_a_transformer():
    words = torch.randint(0, 50, (2, 8))
    model = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True)  # with dropout there is no fused attention
    embedding = nn.Embedding(50, 16)
    families = _families(lambda: model(embedding(words), embedding(words)).sum().backward())
    assert families["aten::_scaled_dot_product_flash_attention_for_cpu_backward"] == "attention"
    assert families["aten::native_layer_norm"] == "norm"
    assert families["aten::embedding_dense_backward"] == "embedding"

    model.eval()
    with torch.inference_mode():
        families = _families(lambda: model(embedding(words), embedding(words)))
    assert families["aten::_transformer_encoder_layer_fwd"] == "attention"


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU, nn.RNN])
def test_a_recurrent_network(layer):
    model = layer(8, 8, num_layers=2, bidirectional=True, batch_first=True)
    families = _families(_train(model, torch.randn(2, 4, 8)))
    assert families[{nn.LSTM: "aten::lstm", nn.GRU: "aten::gru", nn.RNN: "aten::rnn_tanh"}[layer]] == "rnn"


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW", "Adadelta", "RMSprop", "Adagrad", "NAdam"])
@pytest.mark.parametrize("how", ["foreach", "fused", "neither"])
def test_an_optimizer(optimizer, how):
    kind = getattr(torch.optim, optimizer)
    if how == "fused" and "fused" not in inspect.signature(kind).parameters:
        pytest.skip("has no fused form")
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
    modes = {"foreach": how == "foreach"} | ({"fused": True} if how == "fused" else {})
    step = kind(model.parameters(), lr=0.01, weight_decay=0.1, **modes)
    _train(model, torch.randn(2, 8))()
    assert ("foreach" in set(_families(step.step).values())) == (how != "neither")


def test_another_layout_and_another_precision():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Hardswish(), nn.AvgPool2d(2), nn.Flatten())
    images = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    _families(_train(model.to(memory_format=torch.channels_last), images))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        families = _families(_train(model, images))
    assert families["aten::_to_copy"] == "copy"
    assert families["aten::native_batch_norm_backward"] == "norm"
    assert families["aten::hardswish_backward"] == "elementwise"
    assert families["aten::avg_pool2d_backward"] == "pool"
