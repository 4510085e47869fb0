"""`--opcost-json`: the whole run as data."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from .project import told

if TYPE_CHECKING:
    from .project import Project


def _document(project: Project, *options: str) -> dict[str, Any]:
    project.run("--opcost", "--opcost-json=costs.out", *options)
    document: dict[str, Any] = json.loads((project.path / "costs.out").read_text("utf-8"))
    return document


_ENVIRONMENT = {
    "machine": "cpu-chip-a-1-thread-torch2.9",
    "device": "cpu",
    "device_name": "Chip A",
    "capability": "x86_64 AVX512",
    "torch": "2.9.1+cpu",
    "threads": 1,
    "allocator": "quiet",
    "settings": {"mkldnn": "on", "threads": "1"},
    "details": {"os": "Testix 1.0"},
}


def test_the_shape_of_the_file(project: Project) -> None:
    project.write(
        "test_model.py",
        "def test_model(opcost, opcost_batch_size, step):\n    opcost.check(step, name='body', top=3)\n",
    )
    project.costs(facts={"aten::mkldnn_convolution": {"inputs": {"f32[4,1]": 2}, "flops": 80, "places": [["forward"]]}})
    project.record("--opcost-batch-size=4")

    document = _document(project, "--opcost-batch-size=4")

    assert document.keys() == {"schema", "started", "environment", "environments", "tests", "trainings"}
    assert document["schema"] == 1
    assert document["environment"] == _ENVIRONMENT
    (test,) = document["tests"]
    ops, baseline, origin = test.pop("ops"), test.pop("baseline"), test.pop("origin")
    compared = {one["op"]: one for one in test.pop("compared_ops")}
    assert compared.keys() == {op["name"] for op in ops if op["share"] >= 0.02}
    assert all(one["before_us"] == one["now_us"] and one["own"] == 0 < one["band"] for one in compared.values())
    assert test.pop("ratio_bands") == {"conv/addmm": pytest.approx(0.12, abs=0.08)}
    assert list(test.pop("seen_from")) == [*(op["name"] for op in ops[:5]), "conv/addmm"]
    assert test == {
        "test": "test_model.py::test_model[4]",
        "check": "body",
        "family": "test_model.py::test_model",
        "device": "cpu",
        "batch_size": 4,
        "options": ["--opcost-batch-size=4"],
        "verdict": "passed",
        "measurements": 1,
        "machine_factor": 1.0,
        "reported_only": False,
        "compared": True,
        "data": None,
        "steps": 30,
        "step_us": 11000.0,
        "total_host_us": 10000.0,
        "total_device_us": 0.0,
        "load": 0.0,
        "pace_us": 0.0,
        "negative_clamped": 0,
        "flops": 80,
        "kernel_names": {},
        "autograd_nodes": None,
        "flow": None,
        "causes": [],
        "remarks": [],
        "cold": {
            "wall_us": 5000.0,
            "host_us": 4800.0,
            "device_us": 0.0,
            "ops": [["aten::mkldnn_convolution", 4000.0, 0.0]],
        },
        "top": 3,
        "ratios": {"conv/addmm": 4.0},
        "baseline_ratios": {"conv/addmm": 4.0},
        "findings": [],
        "changes": [],
        "environment": _ENVIRONMENT,
    }
    assert len(ops) == 7
    assert ops[0] == {
        "name": "aten::mkldnn_convolution",
        "family": "conv",
        "calls": 2,
        "self_host_us": 4000.0,
        "self_device_us": 0.0,
        "share": 0.4,
        "forward": 1.0,
        "varying": False,
        "samples": [],
        "facts": {
            "inputs": [["f32[4,1]", 2]],
            "flops": 80,
            "kernels": [],
            "syncs": 0,
            "alloc_bytes": 0,
            "places": [{"phase": "forward", "module": "", "line": ""}],
            "varying": [],
        },
        "inclusive_host_us": 0.0,  # of the made-up measurement
        "inclusive_device_us": 0.0,
    }
    assert (project.path / baseline).exists()
    assert origin.startswith("recorded 20")


def test_a_failed_check_is_in_it_with_its_findings(project: Project) -> None:
    project.record()
    project.lenet(copy_=None)

    (test,) = _document(project)["tests"]

    assert (test["verdict"], test["measurements"]) == ("drifted", 2)
    (gone,) = test["findings"]
    assert gone == {
        "kind": "operator_gone",
        "op": "aten::copy_",
        "family": "copy",
        "message": "aten::copy_ (copy) is gone: 0 calls a step (was 2)",
        "baseline": 2.0,
        "current": 0.0,
        "change": 0.0,
        "fails": True,
        "took_us": [400.0, 0.0],
    }
    project.lenet(addmm=[2000.0, 2])
    (test,) = _document(project)["tests"]
    assert (test["verdict"], test["measurements"]) == ("drifted", 6)
    ratio, dearer = test["findings"]
    assert (ratio["kind"], ratio["op"], ratio["baseline"], ratio["current"]) == ("ratio_drifted", "conv/addmm", 4, 2)
    assert (dearer["kind"], dearer["op"], dearer["change"]) == ("operator_dearer", "aten::addmm", 1.0)


def test_every_verdict_has_its_word(project: Project) -> None:
    project.checks("test_same", "test_drifts")
    project.record()
    project.checks("test_same", "test_drifts", "test_is_brand_new")
    project.lenet(test="test_drifts", addmm=[2000.0, 2])

    tests = _document(project)["tests"]

    assert {test["test"].partition("::")[2]: test["verdict"] for test in tests} == {
        "test_model": "passed",
        "test_same": "passed",
        "test_drifts": "drifted",
        "test_is_brand_new": "recorded",
    }
    (recorded,) = (test for test in tests if test["verdict"] == "recorded")
    assert recorded["changes"] == ["new"]
    assert recorded["ops"][0]["samples"] == [4000.0] * 5
    assert not recorded["compared"]


def test_it_is_written_where_no_test_was_judged(project: Project) -> None:
    document = _document(project, "-k", "nothing")

    assert datetime.fromisoformat(document.pop("started")).tzinfo is not None
    environments = {"environment": _ENVIRONMENT, "environments": [_ENVIRONMENT]}
    assert document == {"schema": 1, **environments, "tests": [], "trainings": []}


def test_it_lies_where_pytest_was_started_and_is_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    below = project.path / "below"
    below.mkdir()
    monkeypatch.chdir(below)

    result = project.run("--opcost", "--opcost-json=new/folder/costs.json", project.path)

    assert (below / "new" / "folder" / "costs.json").exists()
    assert "results: new/folder/costs.json" in told(result)


def test_a_place_that_cannot_be_written_fails_the_run_with_one_message(project: Project) -> None:
    project.record()
    project.gets_in_the_way("file")

    result = project.run("--opcost", "--opcost-json=file/costs.json")

    assert result.ret == 1
    text = told(result)
    assert text.count("ERROR: ") == 1
    assert "file" in text.partition("ERROR: ")[2]
    assert "INTERNALERROR" not in text


def test_without_the_option_there_is_no_file(project: Project) -> None:
    before = {path.name for path in project.path.iterdir()}

    project.run("--opcost")

    new = {path.name for path in project.path.iterdir()} - before
    assert new - {"__pycache__", ".pytest_cache"} == {"baselines"}
