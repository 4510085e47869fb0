"""Chrome traces -> profiles: nesting, steps, kernels and the operators that launched them."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("numpy")

from chrome import BACKWARD_THREAD, annotation, event, kernel, launch, old, op, saved

from pytest_opcost.errors import InputError
from pytest_opcost.imports.files import import_file
from pytest_opcost.imports.known import Known

NESTED = [op("aten::linear", 0, 100, 1), op("aten::t", 10, 20, 2), op("aten::addmm", 40, 50, 3)]
H200 = {"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "computeMajor": 9, "computeMinor": 0}],
        "cuda_runtime_version": 12080}  # fmt: skip


@pytest.fixture
def read(tmp_path):
    """Write events as a trace and read it; its profile."""

    def profile(events, known=None, name="trace.json", **head):
        (result,) = import_file(saved(tmp_path / name, events, **head), known)
        return result.profile

    return profile


def host(profile):
    return {op.name: (op.calls, op.self_host_us) for op in profile.ops}


def device(profile):
    return {op.name: op.self_device_us for op in profile.ops if op.self_device_us}


@pytest.mark.parametrize(
    ("name", "shape"),
    [("a.json", {}), ("a.json.gz", {"indent": 2}), ("a.pt.trace.json", {"as_list": True}), ("a.txt", {})],
)
def test_self_times_are_what_no_operator_within_claims(read, name, shape):
    found = read(NESTED, name=name, **shape)
    assert host(found) == {"aten::addmm": (1, 50.0), "aten::linear": (1, 30.0), "aten::t": (1, 20.0)}
    assert (found.steps, found.total_host_us, found.wall_us) == (1, 100.0, pytest.approx(100.0, abs=0.01))
    assert any("no step is marked" in remark for remark in found.remarks)


def test_each_thread_nests_by_itself(read):
    found = read([*NESTED, op("aten::mm", 30, 40, 4, tid=BACKWARD_THREAD)])
    assert host(found)["aten::mm"] == (1, 40.0)
    assert host(found)["aten::linear"] == (1, 30.0)


def test_marked_steps_are_counted_and_the_last_one_without_operators_is_none(read):
    events = []
    for number, lasts in enumerate((50, 30, 40)):
        at = 1000 * number
        events += [annotation(f"ProfilerStep#{number}", at, 900), op("aten::mm", at + 10, lasts, number + 1)]
    found = read([*events, annotation("ProfilerStep#3", 3000, 5), op("aten::add", 4000, 10, 9)])
    assert found.steps == 3
    assert host(found) == {"aten::mm": (1, 30.0)}
    assert found.wall_us == 900.0
    assert found.remarks == ("host time is the least that each call took in 3 steps",)


def test_one_marked_step_needs_no_remark(read):
    assert read([annotation("ProfilerStep#7", 0, 200), *NESTED]).remarks == ()


def test_steps_that_are_said_count_where_none_are_marked(read):
    found = read([*NESTED, *(op(one["name"], one["ts"] + 200, one["dur"]) for one in NESTED)], Known(steps=2))
    assert (found.steps, host(found)["aten::addmm"]) == (2, (1, 50.0))
    assert found.wall_us == pytest.approx(150.0, abs=0.01)


def test_python_annotations_overhead_and_what_the_device_repeats_are_no_rows(read):
    found = read(
        [
            *NESTED,
            annotation("my_net", -10, 150),
            event("train.py(3): step", -20, 200, "python_function"),
            event("Activity Buffer Request", 145, 10, "overhead", tid=0),
            event("my_net", 0, 500, "gpu_user_annotation", tid=7),
            event("PyTorch Profiler (0)", -50, 900, "Trace"),
            {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 100, "tid": 100, "ts": 41, "args": {}},
            {"ph": "s", "id": 1, "cat": "fwdbwd", "name": "fwdbwd", "pid": 100, "tid": 100, "ts": 40},
            {"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "ts": 0, "args": {"name": "python"}},
        ]
    )
    assert set(host(found)) == {"aten::linear", "aten::t", "aten::addmm"}
    assert found.total_host_us == 100.0


def test_overhead_is_taken_from_what_it_interrupts(read):
    found = read([*NESTED, event("Activity Buffer Request", 45, 10, "overhead")])
    assert host(found)["aten::addmm"] == (1, 40.0)


@pytest.mark.parametrize(
    ("begins", "more", "left"),
    [
        (45, [], 40.0),
        (85, [], 50.0),  # beyond its end
        (45, [op("aten::mm", 46, 50, 4, tid=BACKWARD_THREAD)], 40.0),  # not all the while
        (45, [op("aten::mm", 0, 100, 4, tid=BACKWARD_THREAD)], 50.0),  # which of the two?
    ],
)
def test_overhead_on_a_thread_of_its_own_interrupts_the_only_thread_that_is_at_work(read, begins, more, left):
    overhead = {**event("Activity Buffer Request", begins, 10, "overhead", tid=0), "pid": -1}
    assert host(read([*NESTED, *more, overhead]))["aten::addmm"] == (1, left)


@pytest.mark.parametrize(
    ("of_launch", "of_kernel"),
    [
        ({}, {"External id": 3, "correlation": 70}),
        ({"External id": 3}, {"correlation": 70}),
        ({}, {"correlation": 70}),
        ({"external id": "3"}, {"correlation": "70"}),
    ],
    ids=["by its external id", "by its launch's", "by where its launch lies", "as torch 1.8 spells it"],
)
def test_a_kernel_belongs_to_the_operator_that_launched_it(read, of_launch, of_kernel):
    found = read([*NESTED, launch(45, 5, 70, **of_launch), kernel("sgemm", 400, 25.5, **of_kernel)], **H200)
    assert device(found) == {"aten::addmm": 25.5}
    assert host(found)["aten::addmm"] == (1, 45.0)
    assert host(found)["cudaLaunchKernel"] == (1, 5.0)
    environment = found.environment
    assert (environment.device, environment.device_name, environment.capability) == ("cuda", "NVIDIA H200", "9.0")
    assert environment.details == (("cuda", "12.8"), ("figures", "means over steps"))


def test_a_launch_s_external_id_counts_more_than_where_it_lies(read):
    found = read([*NESTED, launch(12, 5, 70, **{"External id": 3}), kernel("sgemm", 400, 25.5, correlation=70)])
    assert device(found) == {"aten::addmm": 25.5}


def test_kernels_of_no_operator_are_rows_of_their_own(read):
    graph = event("cudaGraphLaunch", 200, 10, "cuda_runtime", correlation=9)
    found = read(
        [*NESTED, graph, *(kernel("void my::kernel<int>(int)", 300 + 50 * i, 20, correlation=9) for i in (0, 1))]
    )
    ((name, us),) = device(found).items()
    assert (name.partition("#")[0], us) == ("kernel", 40.0) or (name.startswith("my::kernel") and us == 40.0)


def test_lost_kernels_are_said(read):
    events = []
    for number in (0, 1):
        at = 1000 * number
        events += [annotation(f"ProfilerStep#{number}", at, 900), op("aten::mm", at + 10, 50, number + 1)]
        events += [launch(at + 20, 5, number + 70)]
    found = read([*events, kernel("gemm", 500, 5, correlation=70, **{"External id": 1})])
    assert any("lost records of kernels in 1 of 2 steps" in remark for remark in found.remarks)


def test_the_forward_phase_ends_at_the_engine_s_wrapper(read):
    wrapper = "autograd::engine::evaluate_function: AddmmBackward0"
    found = read(
        [
            op("aten::mm", 0, 30, 1),
            op(wrapper, 100, 50, 2, tid=BACKWARD_THREAD),
            op("AddmmBackward0", 105, 40, 3, tid=BACKWARD_THREAD),
            op("aten::mm", 110, 10, 4, tid=BACKWARD_THREAD),
        ]
    )
    assert found.by_name()["aten::mm"].forward == 0.75
    assert found.by_name()[wrapper].family == "autograd"


def test_nanoseconds_beyond_what_a_float_holds(tmp_path):
    text = """[
      {"ph": "X", "cat": "cpu_op", "name": "aten::a", "pid": 1, "tid": 1, "ts": 1712345678901234.001, "dur": 0.120},
      {"ph": "X", "cat": "cpu_op", "name": "aten::b", "pid": 1, "tid": 1, "ts": 1712345678901234.121, "dur": 0.050}
    ]"""
    first, second = json.loads(text)
    assert first["ts"] == second["ts"]  # as floats they cannot be told apart
    path = tmp_path / "t.json"
    path.write_text(text, encoding="utf-8")
    (result,) = import_file(path)
    assert host(result.profile) == {"aten::a": (1, 0.12), "aten::b": (1, 0.05)}


def test_the_old_profiler_s_trace_with_whole_device_times(read):
    arrow = {"ph": "s", "ts": 0, "tid": 0, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda", "args": {}}
    found = read(
        [
            old("conv2d", 0, 100),
            {**arrow, "name": "conv2d"},
            old("conv2d", 5, 80, "CUDA functions"),
            old("cudnn_convolution", 10, 60),
            old("cudnn_convolution", 15, 70.5, "CUDA functions"),
            old("relu", 110, 10),
            old("relu", 120, 12, "CUDA functions"),
        ],
        as_list=True,
    )
    assert host(found) == {"aten::cudnn_convolution": (1, 60.0), "aten::conv2d": (1, 40.0), "aten::relu": (1, 10.0)}
    assert device(found) == {"aten::cudnn_convolution": 70.5, "aten::relu": 12.0, "aten::conv2d": 9.5}
    assert any("older than 1.7" in remark for remark in found.remarks)


def test_categories_of_torch_1_8(read):
    events = [{**one, "cat": "Operator"} for one in [*NESTED, annotation("ProfilerStep#1", -5, 200)]]
    found = read([*events, {**kernel("gemm", 300, 9, **{"external id": 3}), "cat": "Kernel"}])
    assert (found.steps, device(found)) == (1, {"aten::addmm": 9.0})
    assert "ProfilerStep#1" not in host(found)


def test_events_that_end_before_they_begin_count_as_nothing(read):
    found = read([*NESTED, op("aten::item", 95, -1, 8)])
    assert host(found)["aten::item"] == (1, 0.0)
    assert found.negative_clamped == 0
    assert "1 events of the trace end before they begin, and count as nothing" in found.remarks


def test_names_of_compiled_graphs_last(read):
    assert "## Call CompiledFxGraph ##" in host(read([op("## Call CompiledFxGraph fabc123 ##", 0, 10)]))


def test_a_name_that_is_no_utf_8(tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes(saved(path, [op("aten::XX", 0, 10)]).read_bytes().replace(b"XX", b"\xe9\xff"))
    (result,) = import_file(path)
    assert result.profile.ops[0].name == "aten::\ufffd\ufffd"


def test_a_trace_without_an_operator(tmp_path):
    path = saved(tmp_path / "t.json", [event("f", 0, 10, "python_function"), launch(0, 1, 5)])
    with pytest.raises(InputError, match=r"no operator was recorded in it\.\nFound: 1 events of other kinds"):
        import_file(path)
