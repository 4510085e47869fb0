"""Where operators are called: phase, module and the user's own line, with torch's own dispatcher on the CPU."""

from __future__ import annotations

import inspect
import re
import sys

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.utils._python_dispatch import _get_current_dispatch_mode

from pytest_opcost.errors import MeasureError
from pytest_opcost.facts import Place
from pytest_opcost.measure import Plan, measure

IMAGES, X = torch.ones(4, 1, 28, 28), torch.ones(4, 4)


def facts(step):
    return {op.name: op.facts for op in measure(step, Plan("cpu", 1, 3)).ops}


def at(one):
    """The places of an operator, with the file's name instead of its path."""
    return [Place(place.phase, place.module, place.line.rpartition("/")[2]) for place in one.places]


def line_of(function, marker):
    """`test_real_places.py:12`, where the function has this marker in a comment."""
    lines, first = inspect.getsourcelines(function)
    (offset,) = (index for index, line in enumerate(lines) if line.rstrip().endswith(f"# {marker}"))
    return f"test_real_places.py:{first + offset}"


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Sequential(nn.ModuleDict({"conv": nn.Conv2d(1, 2, 3)}))
        self.head = nn.Linear(2, 3)

    def forward(self, images):
        seen = self.layer1[0]["conv"](images)  # conv
        pooled = torch.exp(seen).mean((2, 3))  # exp
        return self.head(pooled)  # head


def block_step():
    model = Block()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        model(IMAGES).sin().sum().backward()  # backward
        optimizer.step()  # optimizer
        torch.cos(X)  # after

    return step


def test_places_are_phase_module_and_the_users_own_line():
    seen = facts(block_step())
    conv, exp, head = (line_of(Block.forward, marker) for marker in ("conv", "exp", "head"))
    backward, optimizer, after = (line_of(block_step, marker) for marker in ("backward", "optimizer", "after"))

    assert at(seen["aten::convolution"]) == [Place("forward", "layer1.0.conv", conv)]
    assert at(seen["aten::conv2d"]) == [Place("forward", "layer1.0.conv", conv)]
    assert at(seen["aten::exp"]) == [Place("forward", "Block", exp)]
    assert at(seen["aten::addmm"]) == [Place("forward", "head", head)]
    assert at(seen["aten::sin"]) == [Place("forward", "", backward)]
    update = "aten::_foreach_add_" if "aten::_foreach_add_" in seen else "aten::add_"
    assert at(seen[update]) == [Place("optimizer", "", optimizer)]
    assert Place("other", "", after) in at(seen["aten::cos"])


def test_a_backward_operator_has_its_forwards_module_and_line():
    seen = facts(block_step())
    conv, exp, head = (line_of(Block.forward, marker) for marker in ("conv", "exp", "head"))

    assert at(seen["aten::convolution_backward"]) == [Place("backward", "layer1.0.conv", conv)]
    assert at(seen["ConvolutionBackward0"]) == [Place("backward", "layer1.0.conv", conv)]
    assert at(seen["ExpBackward0"]) == [Place("backward", "Block", exp)]
    assert at(seen["aten::mm"]) == [Place("backward", "head", head)]
    assert at(seen["torch::autograd::AccumulateGrad"]) == [Place("backward")]


def test_the_backward_of_what_works_in_place_has_a_place_too():
    layer, weight = nn.Linear(4, 4), torch.ones(4, 4, requires_grad=True)

    def step():
        layer(X).mul_(weight).sum().backward()  # mul_

    expected = [Place("backward", "", line_of(step, "mul_"))]
    assert at(facts(step)["MulBackward0"]) == expected


def test_a_model_built_in_the_step_has_its_own_paths():
    class Named(nn.Module):
        def __init__(self, name):
            super().__init__()
            self.add_module(name, nn.Linear(4, 4))

        def forward(self, images):
            return next(self.children())(images)

    def step():
        for name in ("one", "two", "three"):
            Named(name)(X)

    assert [place.module for place in facts(step)["aten::addmm"].places] == ["one", "two", "three"]


@pytest.mark.filterwarnings("ignore:`torch.cpu.amp.autocast:FutureWarning")  # torch 2.4's own
def test_activation_checkpointing_runs_the_forward_again_in_the_backward():
    from torch.utils.checkpoint import checkpoint

    layer = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    seen = facts(lambda: checkpoint(layer, X.clone().requires_grad_(), use_reentrant=False).sum().backward())
    assert [place.phase for place in seen["aten::addmm"].places] == ["forward", "backward"]


def test_a_step_that_raises_leaves_nothing_behind():
    layer, calls = nn.Linear(4, 4), []

    class Odd(nn.Module):
        def forward(self, images):
            calls.append(layer(images))
            assert len(calls) < 8, "out of data"  # the first step that is watched from the dispatcher

    model, hooks = Odd(), _hooks()
    with pytest.raises(MeasureError, match="out of data"):
        facts(lambda: model(X))
    assert len(calls) == 8
    assert _hooks() == hooks
    assert _get_current_dispatch_mode() is None
    assert facts(lambda: layer(X))["aten::addmm"].places


def _hooks():
    """How many hooks there are now on all modules and on all optimizers."""
    modules, optimizers = vars(sys.modules["torch.nn.modules.module"]), vars(sys.modules["torch.optim.optimizer"])
    hooks = {name: modules[name] for name in modules if re.fullmatch(r"_global_forward(_pre)?_hooks", name)}
    hooks |= {name: optimizers[name] for name in optimizers if re.fullmatch(r"_global_optimizer_\w+_hooks", name)}
    assert len(hooks) == 4
    return {name: len(those) for name, those in hooks.items()}
