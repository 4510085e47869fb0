"""Training on a real GPU: a replayed graph learns what eager steps learn, and profiles are in nobody's way."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")

from pytest_opcost.workloads import training  # noqa: E402  # only where there is a torch
from pytest_opcost.workloads.mnist import Mnist, find_mnist, load_mnist  # noqa: E402
from pytest_opcost.workloads.models import LeNet, build  # noqa: E402
from pytest_opcost.workloads.training.loops import GraphLoop  # noqa: E402

if TYPE_CHECKING:
    from pytest_opcost.training import Training

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

_PLAN = training.TrainingPlan("test_x.py::test_y", LeNet, "cuda", batch_size=64, epochs=3, costs=False)


@pytest.fixture(scope="module")
def sample() -> Mnist:
    return load_mnist(find_mnist("sample", Path("nowhere")), "cuda")


@pytest.fixture(autouse=True)
def _no_tf32() -> Any:
    """So that two orders of the same additions differ by little."""
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    yield
    torch.backends.cudnn.allow_tf32 = before


def _trained(data: Mnist, **changes: Any) -> Training:
    return training.train(replace(_PLAN, **changes), data, keep=lambda one: None)


def test_a_graph_learns_what_eager_steps_learn(sample: Mnist) -> None:
    graph, eager = _trained(sample), _trained(sample, graph=False)

    assert (graph.loop, eager.loop) == ("cuda graph", "eager")
    # The same weights, images and dropout: only later do sums in another order tell.
    assert graph.losses[:5] == pytest.approx(eager.losses[:5], rel=0.01)
    assert graph.test_accuracies[-1] == pytest.approx(eager.test_accuracies[-1], abs=0.05)
    assert graph.test_losses[-1] == pytest.approx(eager.test_losses[-1], rel=0.2)
    assert graph.test_accuracies[-1] > 0.8


def test_the_learning_rate_of_a_graph_falls_too(sample: Mnist, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_opcost.workloads import steps

    monkeypatch.setattr(steps, "LEARNING_RATE_DECAY", 0.0)
    one = _trained(sample)
    assert one.loop == "cuda graph"
    assert one.test_losses[0] == pytest.approx(one.test_losses[-1], rel=1e-5)
    assert one.losses[15] < one.losses[0]


def test_products_of_a_graph_use_tf32_and_the_caller_s_setting_stays(sample: Mnist) -> None:
    before = torch.backends.cuda.matmul.allow_tf32
    exact, fast = (
        GraphLoop(build(LeNet, torch.device("cuda")), sample.train_images, sample.train_labels, 64, tf32_products=tf32)
        for tf32 in (False, True)
    )
    rows = torch.arange(64, device="cuda")
    for loop in (exact, fast):
        torch.manual_seed(1)
        loop.run([rows] * 3)
    losses = [loop.read()[0] for loop in (exact, fast)]

    assert losses[0] != losses[1]
    assert losses[0] == pytest.approx(losses[1], rel=0.01)
    assert torch.backends.cuda.matmul.allow_tf32 is before


@pytest.mark.parametrize("tf32", [True, False])
@pytest.mark.parametrize("graph", [True, False])
def test_a_seed_leads_to_the_same_curves_again(sample: Mnist, graph: bool, tf32: bool) -> None:
    torch.backends.cudnn.allow_tf32 = tf32
    first, second = (_trained(sample, graph=graph) for _ in range(2))

    assert first.losses == second.losses
    assert first.test_losses == second.test_losses


def test_early_updates_change_nothing_that_is_learned(sample: Mnist, monkeypatch: pytest.MonkeyPatch) -> None:
    early, update_early = [], GraphLoop._update_early

    def counted(self: GraphLoop, parameter: Any) -> None:
        early.append(self)
        update_early(self, parameter)

    monkeypatch.setattr(GraphLoop, "_update_early", counted)
    loops, losses = [], []
    for overlapped in (True, False):
        model = build(LeNet, torch.device("cuda"))
        loop = GraphLoop(model, sample.train_images, sample.train_labels, 64, overlapped=overlapped)
        loops.append(loop)
        torch.manual_seed(1)
        loop.run(torch.arange(10 * 64, device="cuda").split(64))
        loop.run([torch.arange(40, device="cuda")])  # eagerly
        losses.append((loop.read(), [parameter.detach().cpu() for parameter in model.parameters()]))
    (one, weights), (other, other_weights) = losses

    assert set(early) == {loops[0]}
    assert early.count(loops[0]) == GraphLoop._WARMUP + 2, "warming up, in the graph, and the eager step"
    assert one == other
    assert all(torch.equal(mine, theirs) for mine, theirs in zip(weights, other_weights))


@pytest.mark.parametrize("graph", [True, False])
def test_profiles_do_not_disturb_the_training(sample: Mnist, graph: bool) -> None:
    with_costs, without = _trained(sample, graph=graph, costs=True), _trained(sample, graph=graph)

    assert with_costs.losses == without.losses
    assert with_costs.test_accuracies == without.test_accuracies
    for _, cost in with_costs.costs:
        names = {op.name for op in cost.ops}
        assert {"aten::cudnn_convolution", "aten::addmm"} <= names
        assert cost.total_device_us > 0


def test_the_caller_s_random_numbers_go_on(sample: Mnist) -> None:
    torch.manual_seed(3)
    expected = torch.rand(3, device="cuda")
    torch.manual_seed(3)
    _trained(sample, epochs=1, costs=True)
    assert torch.equal(torch.rand(3, device="cuda"), expected)


class Waits(LeNet):
    """A network that asks for a number in the midst of a step, which no graph can hold."""

    def forward(self, images: Any) -> Any:
        assert images.sum().item() == images.sum().item()
        return super().forward(images)


def test_a_step_that_no_graph_can_hold_is_trained_eagerly_and_that_is_told(sample: Mnist) -> None:
    one = _trained(sample, network=Waits)

    assert one.loop.startswith("eager (no CUDA graph: ")
    assert one.losses[:5] == pytest.approx(_trained(sample, graph=False).losses[:5], rel=0.01)
    assert _trained(sample).loop == "cuda graph", "a graph that failed spoiled the next one"


@pytest.mark.parametrize("size", [1, 16])
def test_smaller_batches_train_too(sample: Mnist, size: int) -> None:
    one = _trained(sample, batch_size=size, epochs=1)
    assert one.loop == "cuda graph"
    assert one.test_accuracies[-1] > 0.5


def test_the_fixture_trains_on_the_device(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "def test_learns(lenet_training):\n"
        "    assert lenet_training.loop == 'cuda graph'\n"
        "    assert lenet_training.device == 'cuda'\n"
        "    assert lenet_training.environment.device == 'cuda'\n"
    )
    command = ("-m", "pytest", "--opcost", "--device=cuda", "--opcost-mnist=sample", "--opcost-batch-size=64")
    result = pytester.run(sys.executable, *command, "-W", "error")
    result.assert_outcomes(passed=1)
