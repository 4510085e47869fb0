from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import pytest
from records import op, profile, result, step

from pytest_opcost.report.terminal.comparison import comparison_lines


def run(device="cpu", batch_size=16, cost=None, wall_us=1000.0, **more):
    return result(replace(cost or step(), wall_us=wall_us), device=device, batch_size=batch_size, **more)


def test_batch_sizes_side_by_side():
    training = profile(op("aten::conv2d", 30.0), op("aten::mm", 10.0))
    runs = [
        run(batch_size=64, wall_us=6400.0, ratios={"conv/addmm": 4.5}),
        run(batch_size=1, wall_us=800.0, cost=training, ratios={"conv/addmm": 2.125, "pool/addmm": 0.5}),
    ]
    assert "\n".join(comparison_lines(runs)) == dedent("""\
        tests/test_a.py::test_step
                              cpu, 1    cpu, 64
        ------------------  --------  ---------
        step                  800 us     6.4 ms
        a sample              800 us     100 us
        conv/addmm              2.12        4.5
        pool/addmm               0.5          -
        conv, share           75.0 %     40.0 %
        addmm, share          25.0 %     20.0 %
        pool, share            0.0 %     15.0 %
        elementwise, share     0.0 %     10.0 %
        """)


def test_devices_side_by_side_in_order():
    lines = comparison_lines([run("cuda", 16), run("cpu", 16), run("cpu", 1)])
    assert [name.strip() for name in lines[1].split("  ") if name.strip()] == ["cpu, 1", "cpu, 16", "cuda, 16"]


def test_without_a_batch_size_there_is_no_cost_of_a_sample():
    lines = comparison_lines([run("cpu", None), run("cuda", None)])
    assert lines[1].split() == ["cpu", "cuda"]
    assert not any(line.startswith("a sample") for line in lines)


def test_a_batch_size_that_is_not_always_known_makes_no_cost_of_a_sample_either():
    lines = comparison_lines([run("cpu", 16), run("cpu", None)])
    assert [name.strip() for name in lines[1].split("  ") if name.strip()] == ["cpu", "cpu, 16"]
    assert not any(line.startswith("a sample") for line in lines)


def test_families_are_sorted_by_their_share_of_all_configurations():
    costs = profile(op("aten::mm", 60.0), op("aten::conv2d", 40.0)), profile(op("aten::max_pool2d", 1.0))
    lines = comparison_lines([run(batch_size=n, cost=cost) for n, cost in enumerate(costs, 1)])
    assert [line.partition(",")[0] for line in lines if ", share" in line] == ["pool", "addmm", "conv"]


def test_one_configuration_is_compared_with_nothing():
    assert comparison_lines([run()]) == []
    assert comparison_lines([]) == []
    assert comparison_lines([run(test="a.py::a[1]"), run(test="a.py::b[1]")]) == []


def test_each_test_and_each_check_has_a_table_of_its_own():
    checks = (("a", None), ("a", "encoder"), ("b", None))
    runs = [run(batch_size=n, test=f"a.py::{name}[{n}]", check=check) for n in (1, 2) for name, check in checks]
    lines = comparison_lines(runs)
    tests = ["a.py::a", "a.py::a (encoder)", "a.py::b"]
    assert [line for line in lines if line.startswith("a.py")] == [*tests, "a.py::a[1]", "a.py::a[2]"]


def test_the_checks_of_one_test_stand_side_by_side():
    lines = comparison_lines(
        [
            run(check=None, wall_us=500.0, ratios={}),
            run(check="im2col + GEMM", wall_us=800.0, ratios={}),
            run(test="tests/test_a.py::other"),
        ]
    )
    assert lines[:4] == [
        "tests/test_a.py::test_step[cpu-16]",
        "                      unnamed    im2col + GEMM",
        "------------------  ---------  ---------------",
        "step                   500 us           800 us",
    ]
    assert lines[-1] == ""
    assert len(lines) == 10


def test_more_configurations_than_fit_continue_in_another_table():
    lines = comparison_lines([run("cpu", n) for n in range(1, 8)])
    headers = [line.split("cpu, ")[1:] for line in lines if "cpu, " in line]
    assert [[int(n) for n in header] for header in headers] == [[1, 2, 3, 4, 5], [6, 7]]
    assert lines.count("tests/test_a.py::test_step") == 2


@pytest.mark.parametrize(
    ("device", "cost", "ratio"),
    [
        ("cpu", step(), "conv/addmm forward"),
        ("cuda:1", step(), "attention/elementwise forward"),
        ("cpu", profile(op("my::" + "an_operator_of_my_own" * 2, 1.0), op("aten::mm", 1.0)), "conv/addmm"),
    ],
)
def test_no_line_is_wider_than_80_columns(device, cost, ratio):
    lines = comparison_lines([run(device, n, cost, 123_456.0, ratios={ratio: 123.456}) for n in range(60, 65)])
    assert [line for line in lines if len(line) > 80] == []


def test_long_names_of_checks_leave_room_for_the_rows():
    checks = [f"a decoder with {number} layers and its attention" for number in range(5)]
    lines = comparison_lines([run(check=check, ratios={}) for check in checks])
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("elementwise, share") for line in lines) == sum(
        line.startswith("step") for line in lines
    )
    assert sum(line.startswith("tests/test_a.py") for line in lines) == 3


def test_checks_on_other_devices_are_not_side_by_side():
    assert comparison_lines([run("cpu", check="host"), run("cuda", check="card")]) == []
