"""Training on a tiny made-up data set, on the CPU: what is asserted is exact."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")

from pytest_opcost.measure import Plan  # noqa: E402  # only where there is a torch
from pytest_opcost.plain import training_data, training_from  # noqa: E402
from pytest_opcost.workloads import steps, training  # noqa: E402
from pytest_opcost.workloads.mnist import Mnist  # noqa: E402
from pytest_opcost.workloads.models import LeNet, LeNet5, build  # noqa: E402
from pytest_opcost.workloads.source import SAMPLE_FOLDER, MnistSource, Origin  # noqa: E402
from pytest_opcost.workloads.training import course, evaluation, loops, window  # noqa: E402
from pytest_opcost.workloads.training.loops import EagerLoop, best_loop  # noqa: E402

IMAGES, TESTED = 44, 20
PLAN = training.TrainingPlan("test_x.py::test_y", LeNet, "cpu", batch_size=8, epochs=2, quiet=False, costs=False)


def made_up(images: int, labels_seed: int):
    """Noise in which the row of the label's number is bright."""
    generator = torch.Generator().manual_seed(labels_seed)
    labels = torch.arange(images) % 10
    pixels = 0.1 * torch.randn(images, 1, 28, 28, generator=generator)
    pixels[torch.arange(images), 0, 2 * labels + 4] += 3
    return pixels, labels


@pytest.fixture(scope="module")
def data():
    return Mnist(MnistSource(SAMPLE_FOLDER, Origin.SAMPLE), *made_up(IMAGES, 1), *made_up(TESTED, 2))


@pytest.fixture
def quick(monkeypatch):
    """Profiles of few steps."""
    measure = window.measure
    monkeypatch.setattr(window, "measure", lambda step, plan: measure(step, replace(plan, warmup=0, steps=2)))


def trained(data, **changes):
    return training.train(replace(PLAN, **changes), data, keep=lambda one: None)


def curves(one):
    return one.steps, one.losses, one.accuracies, one.test_losses, one.test_accuracies


def test_the_record_says_what_was_trained_and_how(data):
    kept = []
    one = training.train(PLAN, data, kept.append)
    assert kept == [one]
    assert (one.test, one.model, one.device, one.batch_size) == ("test_x.py::test_y", "LeNet", "cpu", 8)
    assert (one.epochs, one.images, one.test_images, one.interrupted) == (2, IMAGES, TESTED, False)
    assert one.data.startswith("MNIST sample")
    assert one.loop == "eager"
    assert one.environment.device == "cpu"
    assert dict(one.hyperparameters)["learning rate"] == "1, times 0.7 after each epoch"
    # Six steps an epoch, the last on four images.
    assert one.steps == tuple(range(1, 13))
    assert len(one.losses) == len(one.accuracies) == 12
    assert len(one.test_losses) == len(one.test_accuracies) == len(one.epoch_seconds) == 2
    assert all(0 <= accuracy <= 1 for accuracy in (*one.accuracies, *one.test_accuracies))
    assert all(seconds > 0 for seconds in one.epoch_seconds)


@pytest.mark.parametrize("network", [LeNet, LeNet5])
def test_it_learns(data, network):
    one = trained(data, network=network, epochs=10, batch_size=4)
    assert one.model == network.__name__
    assert one.test_accuracies[-1] > 0.8
    assert one.test_losses[-1] < one.test_losses[0] / 2


def test_readings_are_few_where_there_are_many_steps(data):
    one = trained(data, batch_size=1, epochs=1)
    assert one.steps == (*range(3, IMAGES, 3), IMAGES)


def test_a_batch_may_be_larger_than_the_data_set(data, quick):
    one = trained(data, batch_size=64, epochs=1, costs=True)
    assert one.steps == (1,)
    assert [when for when, _ in one.costs] == ["start", "middle", "end"]


def test_the_same_plan_gives_the_same_curves_and_leaves_random_numbers_alone(data):
    torch.manual_seed(11)
    first = trained(data)
    drawn = torch.rand(3)
    second = trained(data)
    torch.manual_seed(11)
    assert curves(first) == curves(second)
    assert torch.equal(torch.rand(3), drawn)


def test_every_epoch_takes_every_image_once_and_in_an_order_of_its_own(data, monkeypatch):
    taken = []

    class Remembers(EagerLoop):
        def run(self, batches):
            batches = list(batches)
            taken.extend(batches)
            super().run(batches)

    monkeypatch.setattr(loops, "EagerLoop", Remembers)
    trained(data)
    assert [len(rows) for rows in taken] == [8, 8, 8, 8, 8, 4] * 2
    first, second = torch.cat(taken[:6]).tolist(), torch.cat(taken[6:]).tolist()
    assert sorted(first) == sorted(second) == list(range(IMAGES))
    assert first != second
    assert first != sorted(first)


def test_the_learning_rate_falls_after_each_epoch(data, monkeypatch):
    monkeypatch.setattr(steps, "LEARNING_RATE_DECAY", 0.0)
    one = trained(data, epochs=3)
    first, second, third = one.test_losses
    assert first == second == third, "something was learned at a learning rate of zero"
    assert one.losses[-1] < one.losses[0], "nothing was learned in the first epoch"


def test_a_reading_is_the_mean_an_image_of_the_batches_since_the_one_before(data, monkeypatch):
    monkeypatch.setattr(steps, "LEARNING_RATE", 0.0)
    images, labels = torch.randn(IMAGES, 3, 32, 32, generator=torch.Generator().manual_seed(3)), data.train_labels
    loop = EagerLoop(build(LeNet5, "cpu"), images, labels)  # it has no dropout
    for rows in ([torch.arange(8), torch.arange(8, 11)], [torch.arange(40, 44)]):
        loop.run(rows)
        loss, accuracy = loop.read()
        every = torch.cat(rows)
        with torch.no_grad():
            scores = loop.model(images[every])
        assert loss == pytest.approx(loop.model.loss(scores, labels[every]).item(), rel=1e-5)
        assert accuracy == (scores.argmax(1) == labels[every]).sum().item() / len(every)


def test_evaluation_is_the_mean_an_image_without_dropout(data, monkeypatch):
    monkeypatch.setattr(evaluation, "AT_ONCE", 7)
    model = build(LeNet, "cpu").train()
    loss, accuracy = training.evaluate(model, data.test_images, data.test_labels)
    model.eval()
    with torch.no_grad():
        scores = torch.cat([model(image[None]) for image in data.test_images])
    expected = -scores[torch.arange(TESTED), data.test_labels].mean().item()
    assert loss == pytest.approx(expected, rel=1e-5)
    assert accuracy == (scores.argmax(1) == data.test_labels).sum().item() / TESTED


def test_profiles_are_of_the_training_step_at_start_middle_and_end(data, quick):
    one = trained(data, costs=True)
    assert [when for when, _ in one.costs] == ["start", "middle", "end"]
    for _, cost in one.costs:
        assert cost.steps == 2
        calls = {op.name: op.calls for op in cost.ops}
        assert calls["aten::addmm"] == 2
        assert calls["aten::convolution_backward"] == 2


def test_profiles_do_not_disturb_the_training(data, quick):
    assert curves(trained(data, costs=True)) == curves(trained(data, costs=False))


def test_a_profile_leaves_weights_optimizer_and_random_numbers_as_they_are(data):
    loop = EagerLoop(build(LeNet, "cpu"), data.train_images, data.train_labels)
    loop.run([torch.arange(8)])
    weights = [parameter.clone() for parameter in loop.model.parameters()]
    state = torch.get_rng_state()
    window.step_cost(loop.model, *loop.batch(torch.arange(8)), Plan("cpu", 0, 2, quiet=False, exact=False))
    assert all(torch.equal(*pair) for pair in zip(weights, loop.model.parameters()))
    assert torch.equal(torch.get_rng_state(), state)


def test_where_the_profiles_are_taken(data, monkeypatch):
    taken = []
    monkeypatch.setattr(course, "step_cost", lambda model, images, labels, plan: taken.append((seen[-1], len(images))))
    seen = [0]
    plan = replace(PLAN, epochs=3, costs=True)
    training.train(plan, data, lambda one: None, lambda step, *_: seen.append(step))
    assert taken == [(0, 8), (9, 8), (18, 8)]


def test_ctrl_c_keeps_the_record_so_far(data):
    kept = []

    def interrupt(step, epoch, loss, accuracy):
        assert epoch == (step - 1) // 6 + 1
        if step == 9:
            raise KeyboardInterrupt

    threads = torch.get_num_threads()
    state = torch.get_rng_state()
    with pytest.raises(KeyboardInterrupt):
        training.train(PLAN, data, kept.append, interrupt)
    (one,) = kept
    assert one.interrupted
    assert one.steps == tuple(range(1, 10))
    assert len(one.test_losses) == len(one.epoch_seconds) == 1
    assert one.losses == trained(data).losses[:9]
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_nothing_is_kept_where_nothing_was_learned(data, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(course, "step_cost", interrupt)
    with pytest.raises(KeyboardInterrupt):
        training.train(replace(PLAN, costs=True), data, pytest.fail)


def test_the_record_survives_the_way_to_another_process(data, quick):
    one = trained(data, costs=True)
    assert training_from(json.loads(json.dumps(training_data(one)))) == one
    assert training_from(training_data(one)) == one


class OnCuda(SimpleNamespace):
    """Looks like images on a CUDA device."""

    def __len__(self):
        return IMAGES


@pytest.mark.parametrize("before", [True, False])
def test_steps_run_with_deterministic_kernels_and_the_callers_setting_comes_back(monkeypatch, before):
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", before)
    seen = []

    class Fails(EagerLoop):
        def _step(self, rows):
            seen.append(torch.backends.cudnn.deterministic)
            raise RuntimeError

    loop = Fails(build(LeNet, "cpu"), *made_up(IMAGES, 1))
    with pytest.raises(RuntimeError):
        loop.run([torch.arange(2)])
    assert seen == [True]
    assert torch.backends.cudnn.deterministic is before


def test_where_no_graph_can_be_captured_the_plain_loop_takes_over_and_says_why(monkeypatch):
    def no_graph(*_):
        raise RuntimeError("CUDA error: operation not permitted\nsee the manual")

    monkeypatch.setattr(loops, "GraphLoop", no_graph)
    images = OnCuda(is_cuda=True, device=torch.device("cpu"))
    loop, name = best_loop(LeNet, images, None, 8, graph=True, seed=1)
    assert type(loop) is EagerLoop
    assert name == "eager (no CUDA graph: CUDA error: operation not permitted)"
    assert best_loop(LeNet, images, None, 8, graph=False, seed=1)[1] == "eager"
    assert best_loop(LeNet, images, None, IMAGES + 1, graph=True, seed=1)[1] == "eager"


def test_epochs_of_the_sample_and_of_the_whole_set(tmp_path):
    assert training.default_epochs(MnistSource(SAMPLE_FOLDER, Origin.SAMPLE)) == 1
    assert training.default_epochs(MnistSource(tmp_path, Origin.GIVEN)) == 14
    assert training.default_epochs(MnistSource(tmp_path, Origin.DOWNLOADED)) == 14
