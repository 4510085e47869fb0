from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from pytest_opcost.workloads.models import LeNet, LeNet5, build  # noqa: E402  # only where there is a torch


@pytest.mark.parametrize(
    ("model_class", "image_shape", "parameters"),
    [
        pytest.param(LeNet, (1, 28, 28), 1_199_882, id="LeNet"),
        pytest.param(LeNet5, (3, 32, 32), 62_006, id="LeNet5"),
    ],
)
def test_shapes_and_size(model_class, image_shape, parameters):
    model = build(model_class, "cpu")
    assert sum(p.numel() for p in model.parameters()) == parameters
    assert model(torch.zeros(3, *image_shape)).shape == (3, 10)


def test_layer_names():
    assert [name for name, _ in build(LeNet, "cpu").named_children()] == [
        "conv1",
        "conv2",
        "dropout1",
        "dropout2",
        "fc1",
        "fc2",
    ]
    assert [name for name, _ in build(LeNet5, "cpu").named_children()] == ["conv1", "conv2", "fc1", "fc2", "fc3"]


def test_lenet_returns_log_probabilities():
    output = build(LeNet, "cpu")(torch.randn(2, 1, 28, 28))
    torch.testing.assert_close(output.exp().sum(dim=1), torch.ones(2))


def test_lenet5_returns_logits():
    output = build(LeNet5, "cpu")(torch.randn(2, 3, 32, 32))
    assert not torch.allclose(output.exp().sum(dim=1), torch.ones(2))


def test_both_losses_are_the_cross_entropy():
    labels = torch.tensor([3, 7])
    logits = torch.randn(2, 10)
    expected = -logits.log_softmax(dim=1)[[0, 1], labels].mean()
    torch.testing.assert_close(build(LeNet5, "cpu").loss(logits, labels), expected)
    torch.testing.assert_close(build(LeNet, "cpu").loss(logits.log_softmax(dim=1), labels), expected)


def test_lenet_drops_out_at_its_two_rates():
    model = build(LeNet, "cpu")
    assert (model.dropout1.p, model.dropout2.p) == (0.25, 0.5)


@pytest.mark.parametrize("model_class", [LeNet, LeNet5])
def test_two_builds_have_the_same_weights(model_class):
    first = build(model_class, "cpu").state_dict()
    torch.manual_seed(99)
    second = build(model_class, "cpu").state_dict()
    for name, weights in first.items():
        assert torch.equal(weights, second[name]), name


def test_building_leaves_the_random_numbers_alone(monkeypatch):
    def reseeded(*_):
        raise AssertionError("this would reseed the accelerators, and nothing would restore them")

    monkeypatch.setattr(torch.cuda, "manual_seed_all", reseeded)
    before = torch.get_rng_state()
    build(LeNet, "cpu")
    assert torch.equal(torch.get_rng_state(), before)


def test_the_model_is_on_the_device_that_was_asked_for():
    assert {p.device.type for p in build(LeNet, "meta").parameters()} == {"meta"}


def test_the_caller_s_default_device_does_not_matter():
    with torch.device("meta"):
        assert torch.equal(build(LeNet, "cpu").fc2.bias, build(LeNet, torch.device("cpu")).fc2.bias)
        assert build(LeNet, "cpu").fc2.bias.device.type == "cpu"
