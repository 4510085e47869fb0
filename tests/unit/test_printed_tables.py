"""Printed tables of all times -> profiles."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from printed import TORCH_1_0, TORCH_1_4, TORCH_1_5_CUDA, TORCH_1_7_CUDA, TORCH_2_CUDA, TORCH_2_STACKS

from pytest_opcost.errors import InputError
from pytest_opcost.imports.files import import_file
from pytest_opcost.imports.known import Known
from pytest_opcost.imports.printed.profile import NOT_PRINTED


@pytest.fixture
def read(tmp_path):
    """Read a text as a file; the profile of its one table."""

    def profile(text, known=None, encoding="utf-8"):
        path = tmp_path / "table.txt"
        path.write_text(text, encoding=encoding)
        (result,) = import_file(path, known)
        return result.profile

    return profile


def costs(profile):
    """Operators, dearest first: calls, host and device microseconds."""
    return {op.name: (op.calls, op.self_host_us, op.self_device_us) for op in profile.ops}


def test_torch_1_0_has_whole_times_only_and_that_is_said(read):
    found = read(TORCH_1_0)
    assert costs(found) == {"aten::conv2d": (2, 200.0, 0.0), "aten::addmm": (1, 50.0, 0.0)}
    assert any("no self times" in remark for remark in found.remarks)
    assert any("no end" in remark for remark in found.remarks)


def test_torch_1_4_from_a_report(read):
    found = read(TORCH_1_4)
    assert costs(found) == {
        "aten::cudnn_convolution": (2, 500.0, 0.0),
        "aten::addmm": (2, 300.0, 0.0),
        "unsigned short": (2, 150.0, 0.0),
        "aten::_convolution": (2, 50.0, 0.0),
    }
    assert found.by_name()["unsigned short"].family == "view"
    assert found.ratio("conv/addmm") == pytest.approx(550 / 300)
    assert found.total_host_us == found.wall_us == 1000.0
    assert found.environment.device == "cuda"
    assert any("older than 1.7" in remark for remark in found.remarks)
    assert any("host time only" in remark for remark in found.remarks)


def test_a_recurrent_layer_that_asks_for_cudnn_runs_on_the_cpu_for_all_that(read):
    there = "cudnn_is_acceptable"
    assert read(TORCH_1_4.replace("cudnn_convolution", there.ljust(17))).environment.device == "cpu"


def test_a_table_of_torch_1_5_with_cuda_gives_leaves_their_whole_device_time(read):
    found = read(TORCH_1_5_CUDA)
    assert costs(found) == {
        "aten::cudnn_convolution": (1, 500.0, 800.0),
        "aten::addmm": (1, 400.0, 300.0),
        "aten::conv2d": (1, 100.0, 0.0),
    }
    assert found.clock == "device"
    assert any("no self times of CUDA" in remark for remark in found.remarks)


def test_a_table_of_torch_1_7_with_cuda_and_memory(read):
    found = read(TORCH_1_7_CUDA)
    assert costs(found) == {
        "aten::cudnn_convolution": (1, 500.0, 900.0),
        "aten::addmm": (2, 400.0, 100.0),
        "aten::conv2d": (1, 100.0, 1.0),
    }
    assert found.environment.device == "cuda"
    assert not any("older than 1.7" in remark for remark in found.remarks)


def test_kernels_marks_annotations_on_the_device_and_overhead_count_nowhere(read):
    found = read(TORCH_2_CUDA)
    assert found.steps == 2
    assert costs(found) == {
        "aten::addmm": (2, 500.0, 600.0),
        "cudaLaunchKernel": (2, 50.0, 0.0),
        "my_net": (1, 50.0, 0.0),
    }
    assert found.total_device_us == 600.0
    assert found.wall_us == 950.0
    assert found.by_name()["aten::addmm"].share == 1.0


def test_kernels_that_no_operator_launched_are_rows(read):
    rows = [line for line in TORCH_2_CUDA.splitlines() if "aten::addmm" not in line]
    found = read("\n".join(rows))
    assert costs(found)["void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_..."] == (2, 0.0, 600.0)
    assert found.total_device_us == 600.0
    assert any("1 name is cut off" in remark for remark in found.remarks)


def test_device_time_that_no_printed_operator_has_is_a_row(read):
    found = read(TORCH_2_CUDA.replace("CUDA time total: 1.200ms", "CUDA time total: 1.600ms"))
    assert costs(found)["(kernels of no printed operator)"] == (0, 0.0, 200.0)
    assert found.total_device_us == 800.0


def test_rows_of_several_shapes_and_stacks_are_added_up(read):
    found = read(TORCH_2_STACKS)
    assert costs(found) == {"aten::mm": (3, 3800.0, 0.0), "aten::add": (3, 200.0, 0.0)}


def test_rows_beyond_row_limit_are_one_row(read):
    rows = [line for line in TORCH_2_STACKS.splitlines() if "aten::add" not in line]
    found = read("\n".join(rows))
    assert costs(found)[NOT_PRINTED] == (0, 200.0, 0.0)
    assert found.total_host_us == 4000.0
    assert any("leaves out rows of 5.0 % of its host time" in remark for remark in found.remarks)


def test_what_is_missing_by_rounding_is_not_missing(read):
    assert NOT_PRINTED not in costs(read(TORCH_1_4.replace("total: 1.000ms", "total: 1.001ms")))


def test_a_table_without_a_count_of_calls_tells_it_by_the_mean(read):
    text = "\n".join(line[:110] for line in TORCH_1_4.splitlines())
    assert costs(read(text))["aten::cudnn_convolution"] == (2, 500.0, 0.0)


def test_steps_that_are_said_otherwise_than_marked_are_told_to_count_for_nothing(read):
    found = read(TORCH_2_CUDA, Known(steps=7))
    assert found.steps == 2
    assert any("mean over 2 steps, which it marks, and not over 7" in remark for remark in found.remarks)


def test_steps_that_are_said_divide_what_has_no_marks(read):
    found = read(TORCH_1_4, Known(steps=2, torch="1.4.0", device_name="GTX 1080 Ti", threads=4))
    assert found.steps == 2
    assert costs(found)["aten::addmm"] == (1, 150.0, 0.0)
    assert (found.total_host_us, found.wall_us) == (500.0, 500.0)
    assert found.environment.machine_key == "cuda-gtx-1080-ti-torch1.4"


def test_calls_that_no_number_of_steps_divides_vary(read):
    found = read(TORCH_2_STACKS, Known(steps=2))
    assert {op.name: op.varying for op in found.ops} == {"aten::mm": True, "aten::add": True}


def test_what_nobody_tells_is_unknown(read):
    environment = read(TORCH_2_STACKS).environment
    assert (environment.device, environment.device_name, environment.torch) == ("cpu", "unknown", "unknown")
    assert environment.machine_key == "cpu-unknown-unknown-threads-unknown-malloc-torchunknown"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_every_unit_of_time(read, unit):
    factor = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}[unit]
    text = TORCH_1_0.replace("us ", unit + " ").replace("us\n", unit + "\n")
    assert costs(read(text))["aten::addmm"] == (1, pytest.approx(50.0 * factor), 0.0)


@pytest.mark.parametrize("prefix", ["# ", "  # ", "> ", "    "])
def test_a_table_in_a_comment_or_quoted(read, prefix):
    assert costs(read("\n".join(prefix + line for line in TORCH_1_4.splitlines()))) == costs(read(TORCH_1_4))


def test_spaces_that_were_collapsed_by_a_web_page(read):
    text = "\n".join(" ".join(line.split()) for line in TORCH_2_CUDA.splitlines())
    assert costs(read(text)) == costs(read(TORCH_2_CUDA))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_what_powershell_redirects(read, encoding):
    assert costs(read(TORCH_1_4, encoding=encoding)) == costs(read(TORCH_1_4))


def test_calls_of_several_threads_have_no_percent(read):
    assert costs(read(TORCH_1_4.replace("55.00% ", "0      "))) == costs(read(TORCH_1_4))


@pytest.mark.parametrize("overload", ["Tensor", ""])
def test_names_of_overloads_are_passed_over(read, overload):
    rows = [
        "     Name  Overload Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls",
        "---------  -------------  ------------  ------------  ------------  ------------  ------------  ------------",
        f"aten::add  {overload:>13}      100.00%      10.000us       100.00%      10.000us      10.000us             1",
        f"aten::mul  {'Scalar':>13}        0.00%       0.000us         0.00%       0.000us       0.000us             1",
    ]
    assert list(costs(read("\n".join(rows)))) == ["aten::add", "aten::mul"]


def test_a_table_whose_right_columns_are_cut_off_is_refused(read):
    """Without calls and means nobody knows how often an operator ran."""
    lines = TORCH_1_4.splitlines()
    end = lines[1].rindex("CPU total") + len("CPU total")
    with pytest.raises(InputError, match="the table's columns are cut off"):
        read("\n".join(line[:end] for line in lines))


def test_negative_self_times_count_as_none(read):
    found = read(TORCH_1_4.replace(" 50.000us         55.00%", "-50.000us         55.00%"))
    assert costs(found)["aten::_convolution"] == (2, 0.0, 0.0)
    assert found.negative_clamped == 1


def test_several_tables_are_a_check_each(tmp_path):
    path = tmp_path / "report.md"
    path.write_text(f"# batch 1\n```\n{TORCH_1_4}```\n# batch 16\n```\n{TORCH_2_STACKS}```\n", encoding="utf-8")
    first, second = import_file(path)
    assert (first.subject.title, second.subject.title) == ("report.md (line 4)", "report.md (line 16)")
    assert second.profile.ops[0].name == "aten::mm"
