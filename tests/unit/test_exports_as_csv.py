from __future__ import annotations

import csv
import io

from exports import CHECK, NASTY, both, exported
from made_up import made_up_run
from records import result

from pytest_opcost.report.exports.csv import COLUMNS


def rows(run, folder):
    text = exported("csv", run, folder)
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_a_row_for_the_step_each_operator_and_each_ratio(tmp_path):
    found = rows(both(), tmp_path)
    assert tuple(found[0]) == COLUMNS
    assert [row["kind"] for row in found] == (["step", *["operator"] * 12, "ratio"]) * 2
    step, first, ratio = found[0], found[1], found[13]
    assert (step["test"], step["check"], step["verdict"]) == ("tests/test_a.py::test_step[cpu-16]", "", "drifted")
    assert (step["batch_size"], step["torch"], step["wall_us"]) == ("16", "2.11.0+cpu", "4669.92")
    assert (first["name"], first["family"], first["calls"]) == ("aten::convolution_backward", "conv", "2")
    assert (first["self_host_us"], first["flops"], first["wall_us"]) == ("1560.0", "16000000", "")
    assert (ratio["name"], ratio["value"][:4], ratio["baseline_value"]) == ("conv/addmm", "4.98", "2.0")


def test_names_come_back_as_they_were_and_no_cell_is_a_formula(tmp_path):
    found = rows(both(), tmp_path)[-1]
    assert found["test"] == NASTY
    assert found["check"] == "'" + CHECK.replace("\udc80", "?")


def test_every_line_ends_as_rfc_4180_says(tmp_path):
    text = exported("csv", made_up_run(result()), tmp_path)
    assert text.count("\n") == text.count("\r\n") == 1 + 1 + 6 + 1
