from __future__ import annotations

import re

import pytest
from reports import FLOW

from pytest_opcost.facts import Place
from pytest_opcost.flow import DataFlow, FlowNode

pytest.importorskip("tensorboard")
from pytest_opcost.report.tensorboard.graphs import graph_of


def nodes(flow=FLOW, device="cpu"):
    return {node.name: node for node in graph_of(flow, device)[0].node}


def test_operators_are_grouped_by_module_and_the_phases_behind_the_forward_one_apart():
    assert list(nodes()) == [
        "input",
        "layer1/0/weight",
        "layer1/0/convolution",
        "relu",
        "relu_1",
        "backward/layer1/0/convolution_backward",
        "optimizer/add_",
    ]


def test_edges_are_the_inputs_of_who_takes_the_data():
    found = nodes()
    assert list(found["layer1/0/convolution"].input) == ["input", "layer1/0/weight"]
    assert list(found["relu_1"].input) == ["relu"]
    assert list(found["backward/layer1/0/convolution_backward"].input) == ["relu_1", "layer1/0/weight"]


def test_data_that_is_taken_twice_is_one_edge():
    flow = DataFlow(FLOW.nodes[:3], ((0, 2), (0, 2)))
    assert list(nodes(flow)["layer1/0/convolution"].input) == ["input"]


def test_a_node_says_its_operator_cost_and_shapes():
    node = nodes()["backward/layer1/0/convolution_backward"]
    assert (node.op, node.device) == ("aten::convolution_backward", "/device:CPU:0")
    words = {name: value.s.decode() for name, value in node.attr.items() if value.s}
    assert words == {
        "family": "conv",
        "phase": "backward",
        "module": "layer1.0",
        "line": "model.py:7",
        "output": "f32[3,1,3,3] f32[3]",
        "self_time": "60.0 us",
    }
    shapes = node.attr["_output_shapes"].list.shape
    assert [[dim.size for dim in shape.dim] for shape in shapes] == [[3, 1, 3, 3], [3]]


def test_compute_time_is_told_of_every_call_at_least_a_microsecond_where_it_costs_anything():
    (stats,) = graph_of(FLOW, "cuda:1")[1].step_stats.dev_stats
    assert stats.device == "/device:GPU:1"
    assert {one.node_name: one.all_end_rel_micros for one in stats.node_stats} == {
        "input": 0,
        "layer1/0/weight": 0,
        "layer1/0/convolution": 40,
        "relu": 1,
        "relu_1": 3,
        "backward/layer1/0/convolution_backward": 60,
        "optimizer/add_": 5,
    }
    # What costs nothing is hatched as unused unless its output is told.
    (output,) = next(one for one in stats.node_stats if one.node_name == "input").output
    assert [dim.size for dim in output.tensor_description.shape.dim] == [2, 1, 4, 4]


def test_a_group_lasts_as_long_as_its_calls_together():
    """The view takes a group's time from its first start to its last end, and takes a start at 0 for none."""
    calls = [
        FlowNode("aten::mm", "addmm", Place("forward", module), "", us)
        for module, us in (("a.in", 10.0), ("b", 100.0), ("a.out", 5.0), ("b", 7.0), ("a.in", 2.0))
    ]
    (stats,) = graph_of(DataFlow(tuple(calls)), "cpu")[1].step_stats.dev_stats
    spans = {}
    for group in ("a", "a/in", "a/out", "b"):
        members = [one for one in stats.node_stats if one.node_name.startswith(f"{group}/")]
        ends = [one.all_start_micros + one.all_end_rel_micros for one in members]
        spans[group] = max(ends) - min(one.all_start_micros for one in members)
    assert spans == {"a": 17, "a/in": 12, "a/out": 5, "b": 107}
    assert min(one.all_start_micros for one in stats.node_stats) > 0


@pytest.mark.parametrize("name", ["aten::a b/c", "<script>", "größe", "::", "_", "0", "-x"])
def test_names_that_tensorflow_would_not_allow(name):
    place = Place("forward", "a.b-c.d e/f._g")
    found = list(nodes(DataFlow((FlowNode(name, "other", place),))))
    assert len(found) == 1
    # The rule of TensorFlow for a node's name (tensorflow/python/framework/ops.py).
    assert re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*", found[0])
    assert found[0].count("/") == 4


def test_an_operator_is_not_called_like_a_group():
    inside = FlowNode("aten::mm", "addmm", Place("forward", "linear"))
    outside = FlowNode("aten::linear", "addmm", Place("forward", "Net"))
    assert list(nodes(DataFlow((inside, outside, outside)))) == ["linear/mm", "linear_1", "linear_2"]
