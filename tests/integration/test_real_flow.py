"""How data flows through real steps: whom a call takes from, and what the calls cost, with torch's own dispatcher."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

import torch
from torch import nn

from pytest_opcost.measure import Plan, measure
from pytest_opcost.measure import profile as profiling
from pytest_opcost.measure.exact import flow as recording
from pytest_opcost.workloads import mnist, models, steps

X = torch.ones(4, 4)


def profile_of(step):
    return measure(step, Plan("cpu", 1, 5))


def flow_of(step):
    return profile_of(step).flow


def lenet_step(kind):
    images, labels = mnist.load_mnist(mnist.find_mnist("sample", Path("nowhere")), "cpu").batch(4)
    model = models.build(models.LeNet, "cpu")
    return steps.training_step(model, images, labels) if kind == "train" else steps.inference_step(model, images)


def calls(flow, name):
    return [index for index, node in enumerate(flow.nodes) if node.name == f"aten::{name}"]


def only(flow, name):
    (index,) = calls(flow, name)
    return index


def sources(flow, target):
    return [flow.nodes[source].name.removeprefix("aten::") for source, end in flow.edges if end == target]


def back_from(flow, index, *, family=None):
    """The names on the way back from a node, always to the first of what it takes that is no parameter."""
    names = []
    while True:
        names.append(flow.nodes[index].name.removeprefix("aten::"))
        taken = [source for source, end in flow.edges if end == index]
        taken = [source for source in taken if flow.nodes[source].family != "parameter"]
        if not taken:
            return names[::-1]
        index = taken[0]


def test_the_forward_of_lenet_is_a_chain_from_the_images_to_the_result():
    flow = flow_of(lenet_step("infer"))
    assert back_from(flow, only(flow, "_log_softmax")) == [
        "input", "convolution", "relu", "convolution", "relu", "max_pool2d_with_indices", "view", "addmm", "relu",
        "addmm", "_log_softmax",
    ]  # fmt: skip
    first = calls(flow, "convolution")[0]
    assert sources(flow, first) == ["input", "conv1.weight", "conv1.bias"]
    assert flow.nodes[first].place.module == "conv1"
    assert flow.nodes[first].family == "conv"
    assert flow.nodes[first].output == "f32[4,32,26,26]"
    assert flow.nodes[only(flow, "max_pool2d_with_indices")].output == "f32[4,64,12,12] i64[4,64,12,12]"
    weight = next(node for node in flow.nodes if node.name == "conv1.weight")
    assert (weight.family, weight.output, weight.cost_us) == ("parameter", "f32[32,1,3,3]", 0.0)
    assert flow.nodes[0].family == "input"
    assert {node.place.phase for node in flow.nodes} == {"forward"}


def test_the_backward_of_lenet_takes_what_its_forward_made_and_feeds_the_optimizer():
    flow = flow_of(lenet_step("train"))
    names = {index: node.name.removeprefix("aten::") for index, node in enumerate(flow.nodes)}
    second, first = calls(flow, "convolution_backward")
    assert [flow.nodes[index].place.module for index in (second, first)] == ["conv2", "conv1"]
    assert sources(flow, second) == ["threshold_backward", "relu", "conv2.weight"]
    assert sources(flow, first) == ["threshold_backward", "input", "conv1.weight"]
    for index, node in enumerate(flow.nodes):
        if node.place.phase == "backward" and node.name.endswith("_backward"):
            assert any(flow.nodes[source].place.phase == "forward" for source, end in flow.edges if end == index)
    gradients = [target for source, target in flow.edges if source == second]
    assert "optimizer" in {flow.nodes[target].place.phase for target in gradients}
    # The update of a weight takes the weight itself, also where its transpose was transposed back before.
    updated = {
        flow.nodes[source].name
        for source, target in flow.edges
        if flow.nodes[source].family == "parameter" and flow.nodes[target].place.phase == "optimizer"
    }
    assert updated == {f"{layer}.{kind}" for layer in ("conv1", "conv2", "fc1", "fc2") for kind in ("weight", "bias")}
    assert "optimizer state" in names.values()


def test_dropout_multiplies_what_it_takes_with_a_mask_that_was_drawn():
    flow = flow_of(lenet_step("train"))
    mask = calls(flow, "mul")[0]
    assert flow.nodes[mask].place.module == "dropout1"
    assert sources(flow, mask) == ["max_pool2d_with_indices", "div_"]
    assert back_from(flow, calls(flow, "div_")[0]) == ["empty_like", "bernoulli_", "div_"]


@pytest.mark.parametrize("kind", ["train", "infer"])
def test_costs_add_up(kind):
    profile = profile_of(lenet_step(kind))
    nodes = profile.flow.nodes
    assert sum(node.cost_us for node in nodes) == pytest.approx(profile.total_us, rel=0.02)
    assert all(node.cost_us == 0 for node in nodes if node.family in ("parameter", "input"))
    # Leaves of their own name: their cost is in these nodes and nowhere else.
    for name in ("aten::addmm", "aten::_log_softmax"):
        within = sum(node.cost_us for node in nodes if node.name == name)
        assert within >= profile.by_name()[name].self_host_us * 0.999
    one, two = (node.cost_us for node in nodes if node.name == "aten::convolution")
    assert two > one > 0


def test_costs_are_divided_as_calls_were_timed(monkeypatch):
    monkeypatch.setattr(profiling, "call_costs", lambda *_: {"aten::sin": [1, 3]})
    profile = profile_of(lambda: (X.sin(), X.sin()))
    whole = profile.by_name()["aten::sin"].self_host_us
    assert [node.cost_us for node in profile.flow.nodes] == [0, pytest.approx(whole / 4), pytest.approx(whole * 3 / 4)]


def test_a_step_has_the_same_flow_every_time():
    def told(flow):
        return [(node.name, node.place, node.output) for node in flow.nodes], flow.edges

    step = lenet_step("train")
    assert told(flow_of(step)) == told(flow_of(step))


def test_a_profile_of_times_alone_has_no_flow():
    assert measure(lambda: X + 1, Plan("cpu", 1, 2, exact=False)).flow is None


def test_views_and_what_works_in_place_keep_the_chain():
    def step():
        seen = X.sin()
        part = seen.view(2, 8)[0]
        part.relu_()
        seen.cos()

    flow = flow_of(step)
    assert back_from(flow, only(flow, "cos")) == ["input", "sin", "view", "select", "relu_", "cos"]


def test_two_views_of_one_tensor_are_told_apart():
    def step():
        seen = X.sin()
        rows, columns = seen[0], seen[:, 0]
        rows.exp()
        columns.cos()
        seen.tanh()

    flow = flow_of(step)
    assert back_from(flow, only(flow, "exp")) == ["input", "sin", "select", "exp"]
    assert sources(flow, calls(flow, "select")[0]) == ["sin"]
    assert sources(flow, only(flow, "cos")) == ["select"]
    assert sources(flow, only(flow, "tanh")) == ["sin"]


def test_what_is_written_to_a_part_reaches_who_reads_the_whole():
    def step():
        whole = torch.empty(4, 4)
        whole[:2] = X[:2].sin()
        whole[2:] = X[2:].cos()
        whole.tanh()

    flow = flow_of(step)
    first, second = calls(flow, "copy_")
    assert sources(flow, only(flow, "tanh")) == ["copy_"]
    # The second part begins as the first one left the memory.
    (part,) = [source for source, end in flow.edges if end == second and flow.nodes[source].name == "aten::slice"]
    assert (only(flow, "empty"), part) in flow.edges or (first, part) in flow.edges


def test_a_result_written_to_a_given_tensor_comes_from_there():
    def step():
        out = torch.empty(4, 4)
        torch.sin(X, out=out)
        out.cos()

    flow = flow_of(step)
    assert sources(flow, only(flow, "cos")) == ["sin"]


def test_memory_that_is_used_again_carries_nothing_over():
    numpy = pytest.importorskip("numpy")
    array = numpy.ones((4, 4), dtype="float32")

    def step():
        for _ in range(20):
            X.sin()  # dropped at once
            torch.from_numpy(array).cos()

    flow = flow_of(step)
    # The dispatcher sees nothing of how an array becomes a tensor.
    assert {name for index in calls(flow, "cos") for name in sources(flow, index)} == {"input"}


def test_a_watched_step_keeps_no_memory_of_the_tensors_that_it_drops():
    alive = []

    def step():
        made = X.sin()
        reference = made.untyped_storage()._weak_ref()
        del made
        alive.append(not torch.UntypedStorage._expired(reference))
        torch.UntypedStorage._free_weak_ref(reference)

    assert flow_of(step) is not None
    assert not any(alive)


def test_what_only_hands_on_is_left_out():
    def step():
        X.sin().detach().detach().cos()

    flow = flow_of(step)
    assert [node.name for node in flow.nodes] == ["input", "aten::sin", "aten::cos"]
    assert flow.edges == ((0, 1), (1, 2))


def test_a_view_of_all_there_is_is_left_out_too():
    layer = nn.Linear(4, 4, bias=False)

    def step():
        torch.mm(X.sin().view(4, 4)[:], layer.weight.view(4, 4)).t().cos()

    profile = profile_of(step)
    flow = profile.flow
    assert [sources(flow, only(flow, name)) for name in ("mm", "t", "cos")] == [["sin", "parameter"], ["mm"], ["t"]]
    assert not calls(flow, "view")
    assert not calls(flow, "slice")
    assert [node.cost_us for node in flow.nodes if node.family in ("parameter", "input")] == [0, 0]
    # Views of what was made are at its maker's cost.
    assert flow.nodes[only(flow, "sin")].cost_us > profile.by_name()["aten::sin"].self_host_us


def test_both_branches_of_a_residual_block_meet():
    layer = nn.Linear(4, 4)
    flow = flow_of(lambda: X.sin().add(layer(X.cos())))
    assert sources(flow, only(flow, "add")) == ["sin", "addmm"]

    def residual():
        seen = X.sin()
        return layer(seen) + seen

    flow = flow_of(residual)
    assert sources(flow, only(flow, "add")) == ["addmm", "sin"]


def test_a_step_without_a_model():
    weight = torch.ones(4, 4, requires_grad=True)

    def step():
        weight.grad = None
        (X @ weight).sum().backward()

    flow = flow_of(step)
    assert sources(flow, calls(flow, "mm")[0]) == ["input", "input"]
    assert {node.place.phase for node in flow.nodes} >= {"forward", "backward"}


def test_a_parameter_of_no_module_is_one_still():
    weight = nn.Parameter(torch.ones(4, 4))
    flow = flow_of(lambda: X @ weight)
    assert sources(flow, only(flow, "mm")) == ["input", "parameter"]
    assert flow.nodes[1].family == "parameter"


def test_inference_mode_flows_like_any_other():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 2)).eval()

    def step():
        with torch.inference_mode():
            model(X)

    flow = flow_of(step)
    assert back_from(flow, calls(flow, "addmm")[-1]) == ["input", "addmm", "relu_", "addmm"]
    assert [sources(flow, index) for index in calls(flow, "t")] == [["0.weight"], ["2.weight"]]


def test_two_parameters_in_one_memory_have_names_of_their_own():
    flat = torch.ones(8, 4)

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Parameter(flat[:4]), nn.Parameter(flat[4:])

        def forward(self, images):
            seen = images * self.two
            with torch.no_grad():
                self.one.mul_(1.0)
            return images @ self.one + seen * self.two + part

    model, part = Shared(), flat[2:6]
    flow = flow_of(lambda: model(X))
    assert sources(flow, only(flow, "mm")) == ["input", "mul_"]
    assert sources(flow, only(flow, "mul_")) == ["one"]
    assert [sources(flow, index) for index in calls(flow, "mul")] == [["input", "two"], ["mul", "two"]]
    assert [node.name for node in flow.nodes if node.family == "parameter"] == ["two", "one"]
    # What lies in both was last written with the first.
    assert sources(flow, calls(flow, "add")[-1]) == ["add", "mul_"]

    flow = flow_of(lambda: part.sin() + model.one.detach())
    assert [(node.name, node.family) for node in flow.nodes[:2]] == [("input", "input"), ("aten::sin", "elementwise")]


def test_a_weight_without_its_gradient_is_the_same_node():
    layer = nn.Linear(4, 4, bias=False)
    held = layer.weight.data
    flow = flow_of(lambda: layer(X) + held)
    assert sources(flow, only(flow, "add")) == ["mm", "weight"]
    assert [node.name for node in flow.nodes if node.family == "parameter"] == ["weight"]


def test_a_part_of_one_of_two_parameters_in_one_memory_has_neither_s_name():
    flat = torch.ones(8, 4)

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Parameter(flat[:4]), nn.Parameter(flat[4:])

        def forward(self, images):
            return images + part

    model, part = Shared(), flat[2:6]
    flow = flow_of(lambda: model(X))
    assert sources(flow, only(flow, "add")) == ["input", "parameter"]


def test_a_weight_that_two_layers_share_is_one_node():
    model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    model[1].weight = model[0].weight
    flow = flow_of(lambda: model(X))
    assert [node.name for node in flow.nodes if node.family == "parameter"] == ["0.weight"]
    assert [sources(flow, index) for index in calls(flow, "t")] == [["0.weight"]] * 2


def test_buffers_have_their_names_too():
    model = nn.Sequential(nn.BatchNorm1d(4)).eval()
    flow = flow_of(lambda: model(X))
    assert {"0.running_mean", "0.running_var"} <= {node.name for node in flow.nodes if node.family == "parameter"}


def test_sparse_tensors_have_a_flow_too():
    flow = flow_of(lambda: torch.sparse.mm(X.to_sparse(), X).sin())
    (product,) = [index for index, node in enumerate(flow.nodes) if node.family == "addmm"]
    assert any("sparse" in name for name in sources(flow, product))


def test_operators_on_lists_take_from_all_and_give_to_all():
    def step():
        ones = [X.sin(), X.cos()]
        torch._foreach_add_(ones, 1.0)
        ones[1].tanh()

    flow = flow_of(step)
    (listed,) = [index for index, node in enumerate(flow.nodes) if "_foreach_add_" in node.name]
    assert sources(flow, listed) == ["sin", "cos"]
    assert sources(flow, only(flow, "tanh")) == ["_foreach_add_"]
    assert flow.nodes[listed].output == "f32[4,4] f32[4,4]"


def test_a_step_of_too_many_calls_has_no_flow(monkeypatch):
    monkeypatch.setattr(recording, "MOST_CALLS", 3)

    def step(count):
        return lambda: [X.sin() for _ in range(count)]

    assert len(calls(flow_of(step(3)), "sin")) == 3
    profile = profile_of(step(4))
    assert profile.flow is None
    assert profile.by_name()["aten::sin"].facts.places


def test_another_thread_s_calls_are_no_part_of_it():
    from .whole_steps import in_two_threads

    def step():
        X.sin()
        in_two_threads(lambda: X.cos())

    flow = flow_of(step)
    assert [node.name for node in flow.nodes] == ["input", "aten::sin"]
