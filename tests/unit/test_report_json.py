from __future__ import annotations

import errno
import json
import os
from dataclasses import replace

import pytest
from records import CPU, CUDA, finding, op, profile, result, step

from pytest_opcost.judge import Kind, Outcome
from pytest_opcost.report.json import write_json
from pytest_opcost.results import RunResults
from pytest_opcost.training import Training


def run(environments, results, *trainings):
    return RunResults(environments, results, trainings, "2026-11-28T10:00:00+00:00")


def training():
    return Training(
        "test_lab.py::test_train[cpu-64]", "LeNet", "cpu", 64, epochs=1, images=1000, test_images=500, environment=CPU,
        data="the sample", hyperparameters=(("learning rate", "1.0"),), steps=(8, 16), losses=(1.5, 0.5),
        accuracies=(0.5, 0.75), test_losses=(0.4,), test_accuracies=(0.875,), epoch_seconds=(2.0,),
        costs=(("start", step()),),
    )  # fmt: skip


def written(path, environments, results, *trainings):
    write_json(path, run(environments, results, *trainings))

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def drifted():
    cost = profile(op("aten::conv2d", 30.0, calls=2, samples=(30.0, 31.0)), op("aten::mm", 10.0))
    moved = finding(Kind.BACKEND, "aten::conv2d", change=0.0, message="conv now runs elsewhere")
    return result(cost, Outcome.DRIFTED, moved, check="größer", text="schema: 1\n")


def test_the_documented_shape(tmp_path):
    document = written(tmp_path / "out.json", [CPU], [drifted()])
    assert document.keys() == {"schema", "started", "environment", "environments", "tests", "trainings"}
    assert document["schema"] == 1
    (test,) = document["tests"]
    assert (test["test"], test["check"]) == ("tests/test_a.py::test_step[cpu-16]", "größer")
    assert (test["verdict"], test["device"], test["batch_size"]) == ("drifted", "cpu", 16)
    assert test["ratios"] == {"conv/addmm": 2.0}
    assert test["baseline_ratios"] == {"conv/addmm": 1.95}
    assert [{key: row[key] for key in ("name", "family", "calls", "self_host_us", "share")} for row in test["ops"]] == [
        {"name": "aten::conv2d", "family": "conv", "calls": 2, "self_host_us": 30.0, "share": 0.75},
        {"name": "aten::mm", "family": "addmm", "calls": 1, "self_host_us": 10.0, "share": 0.25},
    ]
    assert [row["self_device_us"] for row in test["ops"]] == [0.0, 0.0]
    assert test["ops"][0]["samples"] == [30.0, 31.0]
    (told,) = test["findings"]
    assert {key: told[key] for key in ("kind", "op", "message", "baseline", "current")} == {
        "kind": "backend_changed",
        "op": "aten::conv2d",
        "message": "conv now runs elsewhere",
        "baseline": 1.0,
        "current": 1.5,
    }


def test_the_baseline_s_text_is_left_out(tmp_path):
    assert "text" not in written(tmp_path / "out.json", [], [drifted()])["tests"][0]


def test_the_environment_in_words(tmp_path):
    environment = written(tmp_path / "out.json", [CPU], [])["environment"]
    assert environment == {
        "machine": CPU.machine_key,
        "device": "cpu",
        "device_name": "Test CPU 9000",
        "capability": "x86_64 AVX2",
        "torch": "2.11.0+cpu",
        "threads": 1,
        "allocator": "quiet",
        "settings": {"mkldnn": "on", "threads": "1"},
        "details": {"os": "Linux 6.1", "python": "3.12.1"},
    }


def test_each_test_has_its_own_environment_and_the_first_one_s_is_the_run_s(tmp_path):
    results = [result(replace(step(), environment=CUDA)), result()]
    document = written(tmp_path / "out.json", [CPU], results)
    assert [test["environment"]["device"] for test in document["tests"]] == ["cuda", "cpu"]
    assert document["environment"]["device"] == "cuda"


def test_a_run_that_measured_nothing(tmp_path):
    assert written(tmp_path / "new" / "deep" / "out.json", [], []) == {
        "schema": 1,
        "started": "2026-11-28T10:00:00+00:00",
        "environment": {},
        "environments": [],
        "tests": [],
        "trainings": [],
    }


def test_a_training(tmp_path):
    (found,) = written(tmp_path / "out.json", [], [], training())["trainings"]
    assert (found["model"], found["batch_size"], found["loop"]) == ("LeNet", 64, "eager")
    assert (found["steps"], found["losses"], found["test_accuracies"]) == ([8, 16], [1.5, 0.5], [0.875])
    assert found["hyperparameters"] == {"learning rate": "1.0"}
    assert found["environment"]["machine"] == CPU.machine_key
    ((when, cost),) = found["costs"]
    assert when == "start"
    assert [op["name"] for op in cost["ops"]] == [op.name for op in step().ops]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_json_is_refused_and_the_old_file_stays(tmp_path, value):
    path = tmp_path / "out.json"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, run([], [result(ratios={"conv/addmm": value})]))
    assert path.read_text(encoding="utf-8") == "old"


def test_the_file_can_be_read_by_a_person(tmp_path):
    write_json(tmp_path / "out.json", run([], [drifted()]))
    text = (tmp_path / "out.json").read_text(encoding="utf-8")
    assert "größer" in text
    assert text.endswith("}\n")
    assert text.count("\n") > 20


def test_half_a_surrogate_pair_in_a_name_is_written_as_json_writes_it(tmp_path):
    (test,) = written(tmp_path / "out.json", [], [result(check="a\udc80")])["tests"]
    assert test["check"] == "a\udc80"


def test_a_full_disk_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "out.json"
    path.write_text("old", encoding="utf-8")

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_json(path, run([], [result()]))
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["out.json"]
