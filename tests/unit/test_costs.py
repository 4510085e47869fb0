from __future__ import annotations

from dataclasses import fields, replace

import pytest
from flows import TRAINED
from records import CPU, CUDA, STEP, on_device, op, profile, step

from pytest_opcost.costs import (
    ColdStep,
    CostProfile,
    OpCost,
    ratio_forms,
    relative_range,
    slug,
    with_ops,
    with_shares,
)
from pytest_opcost.facts import OpFacts
from pytest_opcost.flow import DataFlow
from pytest_opcost.merging import averaged, merged, repetitions_of, with_facts_of

COLD = ColdStep(wall_us=5000.0, host_us=4800.0, device_us=0.0, ops=())


@pytest.mark.parametrize(
    ("torch", "minor"), [("2.11.0+cu130", "2.11"), ("2.4.1", "2.4"), ("2.12.0.dev20261101+cpu", "2.12")]
)
def test_torch_minor(torch, minor):
    assert replace(CPU, torch=torch).torch_minor == minor


def test_a_cpu_s_machine_key_holds_model_threads_and_torch():
    assert CPU.machine_key == "cpu-test-cpu-9000-1-thread-torch2.11"
    assert replace(CPU, threads=2).machine_key == "cpu-test-cpu-9000-2-threads-torch2.11"
    assert replace(CPU, allocator="system").machine_key == "cpu-test-cpu-9000-1-thread-system-malloc-torch2.11"


def test_an_accelerator_s_machine_key_leaves_out_what_only_the_host_feels():
    assert CUDA.machine_key == "cuda-nvidia-h100-80gb-hbm3-torch2.11"
    assert replace(CUDA, threads=4, allocator="system").machine_key == CUDA.machine_key


def test_the_machine_key_does_not_change_with_settings_details_or_patch_level():
    other = replace(CPU, settings=(), details=(), capability="x86_64 AVX512", torch="2.11.9")
    assert other.machine_key == CPU.machine_key


def test_what_a_record_holds_unless_it_is_told():
    row = OpCost("aten::mm", "addmm", 1, 2.0, 0.0, 1.0)
    assert (row.forward, row.varying, row.samples) == (1, False, ())
    cost = CostProfile(CPU, 30, (row,), 3.0, 2.0, 0.0)
    assert (cost.load, cost.cold, cost.negative_clamped) == (0, None, 0)


def test_shares_are_parts_of_the_clock_that_counts():
    host = step()
    assert (host.clock, host.total_us) == ("host", 1000)
    assert {one.name: one.share for one in host.ops} == pytest.approx({n: us / 1000 for n, us in STEP.items()})
    device = profile(op("aten::mm", 900, device_us=0.1), op("aten::add", 100, device_us=0.3), environment=CUDA)
    assert (device.clock, device.total_us) == ("device", pytest.approx(0.4))
    assert {one.name: one.share for one in device.ops} == pytest.approx({"aten::add": 0.75, "aten::mm": 0.25})


def test_operators_are_sorted_dearest_first_then_by_host_time_then_by_name():
    ops = [op("b", 1), op("a", 1), op("c", 2), op("dear", 0.5, device_us=9)]
    assert [one.name for one in profile(*ops).ops] == ["dear", "c", "a", "b"]


def test_shares_of_a_step_that_costs_nothing_are_zero():
    assert [one.share for one in with_shares(profile(op("aten::mm", 0.0))).ops] == [0.0]


def test_the_top_and_the_other_row_add_up_to_the_whole():
    head, other = step().top(2)
    assert [one.name for one in head] == ["aten::mkldnn_convolution", "aten::addmm"]
    assert (other.name, other.family, other.calls, other.self_host_us) == ("other", "other", 4, pytest.approx(400))
    assert sum(one.share for one in (*head, other)) == pytest.approx(1)


def test_the_other_row_sums_both_clocks():
    device = profile(op("aten::mm", 5, device_us=9), op("aten::add", 3, device_us=2), op("aten::mul", 4, device_us=1))
    assert (device.top(1)[1].self_host_us, device.top(1)[1].self_device_us) == (7, 3)


def test_no_other_row_where_there_is_no_rest():
    assert step().top(6) == (step().ops, None)


def test_ratios_of_families_names_and_the_total():
    cost = profile(op("aten::conv2d", 30), op("aten::convolution", 10), op("aten::mm", 10), op("aten::copy_", 50))
    assert cost.ratio("conv/addmm") == pytest.approx(4)
    assert cost.ratio("conv/total") == pytest.approx(0.4)
    assert cost.ratio("aten::convolution/aten::mm") == pytest.approx(1)
    assert cost.ratio("total/aten::copy_") == pytest.approx(2)
    assert profile(op("aten::conv2d", 0.5), op("aten::mm", 0.25)).ratio("conv/addmm") == 2


def test_a_ratio_is_taken_on_the_clock_that_counts():
    cost = on_device(profile(op("aten::conv2d", 30), op("aten::mm", 10)))
    assert cost.ratio("conv/addmm") == pytest.approx(3)


@pytest.mark.parametrize("declared", ["conv/attention", "attention/conv"])
def test_a_ratio_with_a_side_that_costs_nothing_is_none(declared):
    assert step().ratio(declared) is None


def test_the_forward_form_counts_each_row_by_its_forward_part():
    cost = profile(op("aten::conv2d", 40, forward=0.5), op("aten::mm", 40, forward=0.25))
    assert cost.ratio("conv/addmm") == pytest.approx(1)
    assert cost.ratio("conv/addmm forward") == pytest.approx(2)
    assert (cost.side_us("total"), cost.side_us("total", forward_only=True)) == (80, 30)


def test_a_step_of_one_phase_has_one_form_of_a_ratio():
    assert ratio_forms(step(), ["conv/addmm"]) == ("conv/addmm",)
    training = profile(op("aten::conv2d", 40, forward=0.5), op("aten::mm", 40))
    assert ratio_forms(training, ["conv/addmm", "copy/total"]) == (
        "conv/addmm",
        "conv/addmm forward",
        "copy/total",
        "copy/total forward",
    )


def test_merged_takes_medians_and_keeps_each_round_as_a_sample():
    rounds = [
        profile(op("aten::mm", us, calls=2, forward=f), op("aten::add", 1.0), load=load, wall_us=wall)
        for us, f, load, wall in ((10.0, 0.2, 0.0, 100.0), (30.0, 0.4, 0.9, 300.0), (20.0, 0.9, 0.1, 200.0))
    ]
    cost = merged([replace(one, negative_clamped=1) for one in rounds])
    row = cost.by_name()["aten::mm"]
    assert (row.self_host_us, row.forward, row.calls, row.varying) == (20, 0.4, 2, False)
    assert row.samples == (10, 30, 20)
    assert relative_range(row.samples) == pytest.approx(2)
    assert (cost.wall_us, cost.load, cost.total_host_us, cost.negative_clamped) == (200, 0.1, 21, 3)
    assert row.share == pytest.approx(20 / 21)


def test_averaged_takes_means_and_keeps_each_repetition_as_a_sample():
    repetitions = [
        profile(op("aten::mm", us, forward=f), op("aten::add", 1.0), load=load, wall_us=wall)
        for us, f, load, wall in ((10.0, 0.2, 0.0, 100.0), (40.0, 0.6, 0.9, 500.0), (16.0, 0.4, 0.0, 300.0))
    ]
    cost = averaged([replace(repetitions[0], cold=COLD), *repetitions[1:]])
    row = cost.by_name()["aten::mm"]
    assert (row.self_host_us, row.forward, row.samples) == (22, pytest.approx(0.4), (10, 40, 16))
    assert (cost.wall_us, cost.load, cost.total_host_us, cost.cold) == (300, pytest.approx(0.3), 23, COLD)
    assert row.share == pytest.approx(22 / 23)


def test_one_that_was_not_repeated_is_what_it_is():
    one = profile(op("aten::mm", 10.0))
    assert averaged([one]) is one
    assert repetitions_of(one) == [one]


@pytest.mark.parametrize("environment", [CPU, CUDA])
def test_repetitions_of_what_was_averaged_cost_what_each_of_them_did(environment):
    repetitions = [
        profile(op("aten::mm", us, device_us=us / 2), op("aten::add", 3.0, device_us=1.0), environment=environment)
        for us in (10.0, 40.0, 16.0)
    ]
    some = profile(op("aten::mm", 12.0, device_us=6.0), environment=environment)

    found = repetitions_of(averaged([*repetitions, some]))

    cost = [{name: one.cost_us(row) for name, row in one.by_name().items()} for one in (*repetitions, some)]
    cost[-1]["aten::add"] = cost[0]["aten::add"]  # unknown: what it is in the others
    assert [{name: one.cost_us(row) for name, row in one.by_name().items()} for one in found] == cost
    assert [one.total_us for one in found] == [sum(costs.values()) for costs in cost]


def test_repetitions_are_averaged_again_every_so_many_together():
    repetitions = [profile(op("aten::mm", us), op("aten::add", 3.0)) for us in (10.0, 40.0, 16.0, 8.0, 99.0)]
    two_and_two = repetitions_of(averaged(repetitions), 2)  # the fifth has no fellow
    assert [[row.self_host_us for row in one.ops] for one in two_and_two] == [[25, 3], [12, 3]]
    few = averaged(repetitions[:3])
    assert repetitions_of(few, 2) == [few]


def test_merged_samples_are_on_the_clock_that_counts():
    rounds = [profile(op("aten::mm", 99.0, device_us=us), environment=CUDA) for us in (2.0, 3.0, 7.0)]
    row = merged(rounds).ops[0]
    assert (row.self_device_us, row.samples) == (3, (2, 3, 7))
    assert merged(rounds).total_device_us == 3


@pytest.mark.parametrize(
    "second",
    [
        pytest.param([op("aten::mm", 10)], id="missing in a round"),
        pytest.param([op("aten::mm", 10), op("aten::add", 1, calls=4)], id="called more often in a round"),
        pytest.param([op("aten::mm", 10), op("aten::add", 1, varying=True)], id="varying within a round"),
    ],
)
def test_merged_marks_what_is_not_the_same_in_every_round_as_varying(second):
    first = profile(op("aten::mm", 10), op("aten::add", 1))
    for rounds in ([first, profile(*second)], [profile(*second), first]):
        rows = merged(rounds).by_name()
        assert (rows["aten::mm"].varying, rows["aten::add"].varying) == (False, True)


def test_merged_calls_are_the_median_too():
    rounds = [profile(op("aten::add", 1.0, calls=calls)) for calls in (1, 9, 2)]
    assert merged(rounds).ops[0].calls == 2


@pytest.mark.parametrize(
    ("samples", "expected"),
    [((), 0), ((5.0,), 0), ((10.0, 12.0, 11.0), 0.2), ((0.5, 0.6), 0.2), ((0.0, 3.0), 0), ((4.0, 4.0), 0)],
)
def test_relative_range(samples, expected):
    assert relative_range(samples) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NVIDIA A100-SXM4-40GB", "nvidia-a100-sxm4-40gb"),
        ("tests/a b.py::test[x-1.5]", "tests-a-b.py-test-x-1.5"),
        ("--..a__b..--", "a__b"),
        ("größe", "gr-e"),
        ("/[:]", ""),
    ],
)
def test_slug(text, expected):
    assert slug(text) == expected


@pytest.mark.parametrize(
    ("rounds", "nodes"), [((12, 12), 12), ((12, None), 12), ((None, None), None), ((12, 13), None), ((0, 0), 0)]
)
def test_merged_keeps_the_nodes_that_all_rounds_that_looked_agree_on(rounds, nodes):
    assert merged([replace(profile(op("aten::mm", 1.0)), autograd_nodes=one) for one in rounds]).autograd_nodes == nodes


def test_the_data_flow_of_the_first_round_that_has_one_survives_all_that_is_made_of_it():
    timed, watched = profile(op("aten::mm", 1.0)), replace(profile(op("aten::mm", 2.0)), flow=TRAINED)
    other = replace(timed, flow=DataFlow())
    assert merged([timed, watched, other]).flow is TRAINED
    assert merged([timed, timed]).flow is None
    assert with_facts_of(watched, timed).flow is TRAINED
    assert with_facts_of(other, watched).flow is TRAINED
    assert with_ops(watched, [op("aten::add", 1.0)]).flow is TRAINED


FACTS = OpFacts(flops=100)


def known():
    cost = replace(profile(op("aten::mm", 10.0, facts=FACTS), op("aten::add", 1.0)), autograd_nodes=7)
    return replace(cost, cold=ColdStep(9.0, 8.0, 7.0), remarks=("a remark",), kernel_names=(("gemm", "gemm<float>"),))


def test_times_alone_get_what_is_exactly_known_of_the_step():
    timed = profile(op("aten::add", 4.0), op("aten::mm", 3.0), op("aten::mul", 2.0), load=0.3)
    cost = with_facts_of(known(), timed)
    assert {one.name: one.facts for one in cost.ops} == {"aten::mm": FACTS, "aten::add": None, "aten::mul": None}
    assert (cost.autograd_nodes, cost.cold, cost.remarks) == (7, ColdStep(9.0, 8.0, 7.0), ("a remark",))
    assert cost.kernel_names == (("gemm", "gemm<float>"),)
    assert [(one.name, one.self_host_us, one.share) for one in cost.ops] == [
        (one.name, one.self_host_us, one.share) for one in timed.ops
    ]
    assert (cost.load, cost.total_us) == (0.3, 9)


def test_what_the_timed_step_knows_of_itself_stays_but_for_its_remarks():
    own = OpFacts(flops=50)
    timed = replace(profile(op("aten::mm", 3.0, facts=own)), autograd_nodes=0, remarks=("another",))
    cost = with_facts_of(known(), replace(timed, kernel_names=(("add", "add<int>"),)))
    assert (cost.ops[0].facts, cost.autograd_nodes, cost.remarks) == (own, 0, ("a remark",))
    assert cost.kernel_names == (("add", "add<int>"), ("gemm", "gemm<float>"))


def test_an_operator_at_other_costs_keeps_all_else():
    full = OpCost("a", "conv", 3, 1.0, 2.0, 0.5, 0.25, True, (1.0, 2.0), OpFacts(), 7.0, 8.0)
    assert all(getattr(full, field.name) != field.default for field in fields(OpCost))
    assert full.at(10.0, 20.0, 0.75) == replace(full, self_host_us=10.0, self_device_us=20.0, share=0.75)
