"""The environment table: the Lab's rows and ours."""

from __future__ import annotations

from dataclasses import replace

from made_up import made_up_run
from records import CPU, CUDA, op, profile, result

from pytest_opcost.report.machine import machine_rows, machines

H200 = replace(
    CUDA,
    details=(
        ("cpu", "Test CPU 9000"), ("cpus", "16"), ("cuda", "13.0"), ("cudnn", "91200"), ("distribution", "Testix 12"),
        ("gpus", "2"), ("os", "Linux 6.1"), ("python", "3.12.1"),
    ),
)  # fmt: skip


def cells(*environments):
    return {row.name: row.values for row in machine_rows(environments)}


def test_the_labs_rows():
    told = cells(H200)
    rows = ("CPU", "CPU cores", "GPU", "Number of GPUs", "Operating system", "Framework", "CUDA")
    assert [told[name] for name in rows] == [
        ("Test CPU 9000",), ("16",), ("NVIDIA H100 80GB HBM3",), ("2",), ("Testix 12, Linux 6.1",),
        ("torch 2.11.0+cpu",), ("13.0",),
    ]  # fmt: skip


def test_a_column_for_each_machine_and_a_dash_where_a_setting_is_unknown():
    told = cells(replace(CPU, details=(("cpus", "2"),)), H200)
    assert told["GPU"] == ("not used", "NVIDIA H100 80GB HBM3")
    assert told["CPU"] == ("Test CPU 9000", "Test CPU 9000")
    assert told["cudnn_tf32"] == ("–", "on")  # noqa: RUF001
    assert told["Operating system"] == ("unknown", "Testix 12, Linux 6.1")


def test_settings_are_those_in_force_while_measuring():
    before = replace(CPU, settings=(("threads", "8"),))
    run = replace(made_up_run(result(profile(op("aten::add", 1.0)))), environments=[before, CUDA])
    assert machines(run) == (CPU, CUDA)
