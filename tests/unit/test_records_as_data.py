from __future__ import annotations

import json
from dataclasses import replace

from records import CPU, step

from pytest_opcost.facts import Place
from pytest_opcost.flow import DataFlow, FlowNode
from pytest_opcost.plain import profile_data, profile_from, training_data, training_from
from pytest_opcost.training import Training

FLOW = DataFlow(
    (
        FlowNode("conv1.weight", "parameter", Place("forward", "conv1")),
        FlowNode("aten::convolution", "conv", Place("forward", "conv1", "model.py:3"), "f32[16,32,26,26]", 12.5),
    ),
    ((0, 1),),
)
COST = replace(step(), flow=FLOW)
TRAINING = Training(
    "test_lab.py::test_train", "LeNet", "cpu", 64, 2, 1000, 500, CPU, "the sample", "cuda graph",
    (("learning rate", "1.0"),), (8, 16), (1.5, 0.5), (0.5, 0.75), (0.4, 0.3), (0.8, 0.9), (2.0, 2.1),
    (("start", COST),), interrupted=True,
)  # fmt: skip


def by_json(data):
    return json.loads(json.dumps(data))


def test_a_profile_with_its_data_flow_comes_back_as_it_was():
    assert profile_from(by_json(profile_data(COST))) == COST


def test_a_training_comes_back_as_it_was():
    assert training_from(by_json(training_data(TRAINING))) == TRAINING
