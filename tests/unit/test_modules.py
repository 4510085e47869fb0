"""What modules cost, on data flows made by hand."""

from __future__ import annotations

from flows import TRAINED, call, chain, parameter

from pytest_opcost.flow import DataFlow
from pytest_opcost.modules import module_tree


def test_costs_add_up_along_the_paths_phase_by_phase():
    root = module_tree(TRAINED)
    assert root.path == ""
    assert [child.path for child in root.children] == ["conv", "Net", "block"]
    assert root.phases_us == (360.0, 540.0, 90.0, 10.0)
    assert (root.total_us, root.own_us, root.calls) == (1000.0, 170.0, 13)

    block = root.children[2]
    (fc,) = block.children
    assert (fc.path, fc.name) == ("block.fc", "fc")
    assert fc.phases_us == block.phases_us == (100.0, 130.0, 0.0, 0.0)
    assert (fc.own_us, block.own_us) == (230.0, 0.0)
    assert (fc.calls, block.calls) == (3, 3)
    assert fc.phase_us("backward") == 130.0


def test_a_module_s_share_is_of_what_it_is_asked_of():
    conv = module_tree(TRAINED).children[0]
    assert conv.share_of(2000.0) == 510 / 2000
    assert conv.share_of(0.0) == 0.0


def test_parameters_belong_to_the_module_that_their_name_begins_with():
    flow = chain(parameter("a.b.weight", "f32[3,4]"), parameter("a.b.bias"), parameter("scale"), call("mul", "a.b", 1))
    root = module_tree(flow)
    assert root.parameters == (("scale", "f32[3]"),)
    (a,) = root.children
    assert a.parameters == ()
    assert a.children[0].parameters == (("weight", "f32[3,4]"), ("bias", "f32[3]"))
    assert root.calls == 1


def test_children_are_in_the_order_of_their_first_calls():
    flow = chain(*(call("relu", path) for path in ("b.2", "a", "b.10", "b", "a")))
    assert [(depth, module.path) for depth, module in module_tree(flow).walk()] == [
        (0, ""), (1, "b"), (2, "b.2"), (2, "b.10"), (1, "a"),
    ]  # fmt: skip


def test_a_step_without_anything_has_an_empty_tree():
    root = module_tree(DataFlow())
    assert (root.total_us, root.calls, root.children, root.parameters) == (0.0, 0, (), ())
