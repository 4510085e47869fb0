from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
from records import op, profile, step

from pytest_opcost.baselines import baseline_path, new_baseline, quoted

ROOT = Path("baselines")
IDS = [
    "tests/test_a.py::test_b[cpu-16]",
    "tests/test_a.py::test_B[cpu-16]",
    "tests-test_a.py::test_b[cpu-16]",
    "tests/test_a.py::test_b[cpu 16]",
    "tests/test_a.py::test_b[cpu/16]",
    "tests/test_a.py::test_b[cpu:16]",
    "tests/test_a.py::test_b[cpu\\16]",
    "tests/test_a.py::TestB::test_b",
    "tests/test_ä.py::test_b",
    "tests/test_.py::test_b",
    "тест",
    "проба",
    "[]",
    "..",
    "../../etc/passwd",
    "-rf",
    "x" * 1000,
    "x" * 999 + "y",
    "a/" * 500,
    "é" * 1000,
]


@pytest.mark.parametrize("test", IDS)
def test_a_file_name_is_safe_everywhere(test):
    path = baseline_path(ROOT, "machine", test, None)
    assert path.parent == ROOT / "machine"
    assert re.fullmatch(r"[a-z0-9._-]+\.yaml", path.name)
    assert len(path.name) < 200
    assert path == baseline_path(ROOT, "machine", test, None)


def test_a_file_name_does_not_begin_like_an_option_or_a_hidden_file():
    for test in IDS:
        name = baseline_path(ROOT, "machine", test, None).name
        assert name[0] not in "-.", (test, name)


def test_file_names_are_distinct_even_where_case_does_not_count():
    names = {baseline_path(ROOT, "machine", test, None).name.lower() for test in IDS}
    assert len(names) == len(IDS)


def test_a_file_name_can_be_read_and_does_not_change_between_versions():
    path = baseline_path(ROOT, "machine", "tests/test_a.py::test_b[cpu-16]", None)
    assert path.name == "tests-test_a.py-test_b-cpu-16-c3628ffb.yaml"


def test_a_long_id_keeps_its_end_which_tells_more():
    name = baseline_path(ROOT, "machine", "folder/" * 100 + "test_a.py::test_b[cpu-16]", None).name
    assert "test_a.py-test_b-cpu-16-" in name


def test_checks_of_one_test_have_files_of_their_own():
    names = [baseline_path(ROOT, "machine", "test_a", check).name for check in (None, "encoder", "decoder", "Decoder")]
    assert len(set(names)) == 4
    assert names[1].startswith("test_a-encoder-")


def test_a_new_baseline_is_made_of_all_rounds():
    rounds = [step(), step(convolution=1.1), step(convolution=1.2)]
    baseline = new_baseline(ROOT / "a.yaml", "test_a", "encoder", rounds, ["conv/addmm", "attention/addmm"])
    assert (baseline.test, baseline.check, baseline.path) == ("test_a", "encoder", ROOT / "a.yaml")
    assert baseline.recorded == date.today().isoformat()
    assert baseline.profile.by_name()["aten::mkldnn_convolution"].samples == pytest.approx((400, 440, 480))
    assert baseline.ratios.keys() == {"conv/addmm"}
    assert baseline.ratios["conv/addmm"].value == pytest.approx(2.2)
    assert baseline.ratios["conv/addmm"].spread == pytest.approx(0.2)


def test_a_new_baseline_has_a_ratio_for_each_phase():
    rounds = [profile(op("aten::conv2d", 40, forward=0.5), op("aten::mm", 40, forward=0.25))] * 2
    ratios = new_baseline(ROOT / "a.yaml", "test_a", None, rounds, ["conv/addmm"]).ratios
    assert {name: (one.value, one.spread) for name, one in ratios.items()} == {
        "conv/addmm": (1, 0),
        "conv/addmm forward": (2, 0),
    }


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("a.py::b[x y]", '"a.py::b[x y]"'),
        ('b["]', '"b[\\"]"'),
        ("b[$HOME]", '"b[\\$HOME]"'),
        ("b[`id`]", '"b[\\`id\\`]"'),
        ("b[\\n]", '"b[\\\\n]"'),
    ],
)
def test_quoted_is_safe_in_a_shell(test, expected):
    assert quoted(test) == expected
