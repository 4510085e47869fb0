"""An operator's cost, shared out among the calls of a data flow; on records made by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from flows import call, chain, entering
from records import on_device, op, profile

from pytest_opcost.measure.exact import WatchedFlow
from pytest_opcost.measure.flow_costs import with_flow

CONV = "aten::mkldnn_convolution"
FLOW = chain(entering(), call("convolution", "a"), call("convolution", "b"))
#: Each call is a convolution that runs oneDNN's, and the second was the dearer one while it was watched.
OPERATORS = ((CONV, 1, 10), ("aten::empty", 1, 1), (CONV, 2, 30), ("aten::empty", 2, 1))


def costs(cost, operators=OPERATORS, call_costs=()):
    return [node.cost_us for node in with_flow(cost, WatchedFlow(FLOW, tuple(operators)), dict(call_costs)).flow.nodes]


def test_an_operator_s_cost_is_divided_as_its_calls_were_timed():
    cost = profile(op(CONV, 100.0, calls=2), op("aten::empty", 6.0, calls=2))
    assert costs(cost, call_costs={CONV: [60, 20], "aten::empty": [1, 2]}) == [0, 75 + 2, 25 + 4]


def test_an_operator_that_was_called_more_or_less_often_is_divided_as_it_was_watched():
    cost = profile(op(CONV, 100.0, calls=3))
    assert costs(cost, call_costs={CONV: [1, 1, 1]}) == [0, 25, 75]
    assert costs(cost) == [0, 25, 75]


def test_on_a_device_kernels_divide_and_where_they_cannot_all_calls_are_equal():
    cost = on_device(profile(op(CONV, 100.0, calls=2)))
    assert costs(cost, call_costs={CONV: [5, 15]}) == [0, 25, 75]
    assert costs(cost) == [0, 50, 50]


def test_no_node_has_what_belongs_to_no_call():
    backward = "autograd::engine::evaluate_function: ReluBackward0"
    cost = profile(op(backward, 40.0, calls=2), op("aten::sin", 5.0))
    operators = [(backward, -1, 30), (backward, 2, 10), ("aten::sin", -1, 5)]
    assert costs(cost, operators, {backward: [3, 1]}) == [0, 0, 10]


def test_waiting_is_no_cost_of_a_call_s():
    cost = profile(op(CONV, 10.0), op("cudaDeviceSynchronize", 90.0))
    assert costs(cost, [(CONV, 1, 1), ("cudaDeviceSynchronize", 1, 1)]) == [0, 10, 0]


def test_calls_that_took_no_time_share_what_there_is_none_of():
    assert costs(profile(op(CONV, 0.0)), [(CONV, 1, 0), (CONV, 2, 0)], {CONV: [0, 0]}) == [0, 0, 0]


def test_the_rest_of_the_profile_and_the_flow_stay():
    cost = profile(op(CONV, 100.0))
    told = with_flow(cost, WatchedFlow(FLOW, OPERATORS), {})
    assert (told.ops, told.total_us) == (cost.ops, cost.total_us)
    assert told.flow.edges == FLOW.edges
    assert [node.name for node in told.flow.nodes] == [node.name for node in FLOW.nodes]
