from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from pytest_opcost.workloads.models import LeNet, LeNet5, build  # noqa: E402  # only where there is a torch
from pytest_opcost.workloads.steps import inference_step, recipe, training_step  # noqa: E402


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(5)
    return torch.randn(4, 1, 28, 28, generator=generator), torch.tensor([5, 0, 4, 1])


def losses_of_a_fresh_run(batch, steps):
    """The losses of `steps` training steps, seen from outside: a step itself hands out nothing."""
    images, labels = batch
    model = build(LeNet, "cpu")
    losses = []
    model.register_forward_hook(lambda _model, _inputs, output: losses.append(model.loss(output, labels).item()))
    step = training_step(model, images, labels)
    for _ in range(steps):
        assert step() is None
    return losses


def test_two_fresh_runs_give_the_same_losses(batch):
    first = losses_of_a_fresh_run(batch, steps=4)
    torch.rand(17)
    assert losses_of_a_fresh_run(batch, steps=4) == first


def test_training_lowers_the_loss(batch):
    losses = losses_of_a_fresh_run(batch, steps=10)
    assert losses[-1] < losses[0] / 2


def test_each_step_draws_its_own_dropout_mask(batch):
    passes = []
    model = build(LeNet, "cpu")
    model.dropout1.register_forward_hook(lambda _layer, inputs, output: passes.append((inputs[0] != 0, output == 0)))
    step = training_step(model, *batch)
    step()
    step()
    (alive, dropped), (alive_next, dropped_next) = passes
    comparable = alive & alive_next  # elsewhere relu, not dropout, may have made the zero
    assert dropped[comparable].any()
    assert not torch.equal(dropped[comparable], dropped_next[comparable])


def test_one_step_is_one_step_of_adadelta_at_rate_one(batch):
    images, labels = batch
    trained, expected = build(LeNet, "cpu"), build(LeNet, "cpu")
    training_step(trained, images, labels)()

    torch.manual_seed(1)
    torch.nn.functional.nll_loss(expected(images), labels).backward()
    torch.optim.Adadelta(expected.parameters(), lr=1.0).step()
    for name, weights in expected.state_dict().items():
        assert torch.equal(weights, trained.state_dict()[name]), name


def test_gradients_do_not_pile_up(batch):
    model = build(LeNet, "cpu")
    step = training_step(model, *batch)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, float("inf"))
    step()
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())


def test_lenet5_is_trained_too(batch):
    model = build(LeNet5, "cpu")
    before = model.fc3.bias.detach().clone()
    training_step(model, torch.randn(4, 3, 32, 32), batch[1])()
    assert not torch.equal(model.fc3.bias, before)


def test_the_learning_rate_decays_once_an_epoch():
    optimizer, scheduler = recipe(build(LeNet, "cpu"))
    rates = []
    for _ in range(3):
        rates += scheduler.get_last_lr()
        optimizer.step()
        scheduler.step()
    assert rates == pytest.approx([1.0, 0.7, 0.49])


def test_inference_uses_neither_gradients_nor_dropout(batch):
    outputs = []
    model = build(LeNet, "cpu")
    model.register_forward_hook(lambda _model, _inputs, output: outputs.append(output))
    step = inference_step(model, batch[0])
    assert step() is None
    step()
    assert not outputs[0].requires_grad
    assert torch.equal(*outputs)


def test_steps_that_share_a_model_each_set_their_mode(batch):
    model = build(LeNet, "cpu")
    train, infer = training_step(model, *batch), inference_step(model, batch[0])
    train()
    assert model.training
    infer()
    assert not model.training
    train()
    assert model.training


def test_steps_read_nothing_back_from_the_device(batch, monkeypatch):
    def read_back(*_):
        raise AssertionError("a step must not wait for the device")

    model = build(LeNet, "cpu")
    steps = training_step(model, *batch), inference_step(model, batch[0])
    steps[0]()  # Adadelta makes its state in the first step
    for name in ("item", "cpu", "tolist", "numpy"):
        monkeypatch.setattr(torch.Tensor, name, read_back)
    monkeypatch.setattr(torch.cuda, "synchronize", read_back)
    for step in steps:
        step()
