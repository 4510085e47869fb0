from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from exports import both, drifted, exported, nasty
from made_up import made_up_run
from records import op, profile, result

TITLE = "tests/test_a.py::test_step[cpu-16]"
MACHINE = "cpu-test-cpu-9000-1-thread-torch2.11"


def document(kind, run, folder):
    return json.loads(exported(kind, run, folder))


def test_github_action_benchmark(tmp_path):
    entries = document("github-action-benchmark", both(), tmp_path)
    assert entries[0] == {
        "name": f"{TITLE}: step ({MACHINE})", "unit": "us", "value": 4669.92, "extra": "verdict: drifted\nsteps: 30",
    }  # fmt: skip
    assert entries[1]["name"] == f"{TITLE}: operators ({MACHINE})"
    assert (entries[2]["name"], entries[2]["value"]) == (f"{TITLE}: aten::convolution_backward ({MACHINE})", 1560.0)
    assert len(entries) == 2 * (2 + 10)
    assert len({entry["name"] for entry in entries}) == len(entries)
    # What the action makes of an entry: extract.ts, extractRangeInfo.ts.
    for entry in entries:
        assert isinstance(entry["name"], str)
        assert isinstance(entry["value"], float)
        assert entry["name"].isprintable()
        assert "range" not in entry or float(re.match(r"(?:\+-|±)\s*(\d.*)", entry["range"])[1]) > 0
    assert sum("range" in entry for entry in entries) == 10


def test_bencher(tmp_path):
    benchmarks = document("bencher", both(), tmp_path)
    assert benchmarks[TITLE] == {
        "latency": {"value": 4669920.0}, "self-time": {"value": 3866600.0},
        "ratio-conv-addmm": {"value": pytest.approx(4.98, abs=0.01)},
    }  # fmt: skip
    assert benchmarks[f"{TITLE}: aten::addmm"] == {"latency": {"value": 204000.0}}
    addmm = next(one for name, one in benchmarks.items() if name.endswith('"?): aten::addmm'))
    assert addmm["latency"]["lower_value"] < addmm["latency"]["value"] < addmm["latency"]["upper_value"]
    # The schema of bencher.dev/bmf.json, and the lengths that the names may have.
    for name, measures in benchmarks.items():
        assert 0 < len(name) <= 1024
        assert name.isprintable()
        for measure, metric in measures.items():
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", measure)
            assert len(measure) <= 64
            assert metric.keys() <= {"value", "lower_value", "upper_value"}
            assert isinstance(metric["value"], float)


def test_long_names_of_bencher_are_cut_and_stay_apart(tmp_path):
    checks = [nasty(f"a.py::t[{'x' * 2000}{index}]", None) for index in range(2)]
    checks[0] = replace(checks[0], ratios={f"conv/aten::{'y' * 100}{index}": 1.0 for index in range(2)})
    benchmarks = document("bencher", made_up_run(*checks), tmp_path)
    assert len(benchmarks) == 2 * 11
    assert {len(name) for name in benchmarks} == {1024}
    first = next(iter(benchmarks.values()))
    assert len(first) == 4
    assert max(map(len, first)) == 64


def test_pytest_benchmark(tmp_path):
    found = document("pytest-benchmark", both(), tmp_path)
    assert found.keys() == {"machine_info", "commit_info", "benchmarks", "datetime", "version"}
    assert found["machine_info"]["node"] == MACHINE
    assert found["datetime"] == "2026-11-28T10:58:00+00:00"
    step, conv = found["benchmarks"][:2]
    assert (step["group"], step["name"], step["fullname"]) == (TITLE, "test_step[cpu-16] step", f"{TITLE} step")
    assert (step["params"], step["param"]) == ({"device": "cpu", "batch_size": 16}, "cpu-16")
    assert step["stats"]["min"] == step["stats"]["max"] == pytest.approx(4669.92e-6)
    assert (step["stats"]["rounds"], step["stats"]["iterations"], step["stats"]["stddev"]) == (1, 30, 0)
    assert conv["name"] == "test_step[cpu-16] aten::convolution_backward"
    assert conv["extra_info"] == {"machine": MACHINE, "verdict": "drifted", "family": "conv", "calls": 2,
                                  "clock": "host"}  # fmt: skip
    names = [one["fullname"] for one in found["benchmarks"]]
    assert len(set(names)) == len(names) == 2 * 11


def test_the_rounds_of_an_operator_in_pytest_benchmark(tmp_path):
    samples = (2.0, 1.0, 3.0, 4.0, 100.0)
    run = made_up_run(result(profile(op("aten::mm", 3.0, samples=samples)), top=1))
    stats = document("pytest-benchmark", run, tmp_path)["benchmarks"][1]["stats"]
    us = {
        name: stats[name] * 1e6 for name in ("min", "max", "mean", "median", "total", "q1", "q3", "ld15iqr", "hd15iqr")
    }
    assert us == pytest.approx(
        {"min": 1, "max": 100, "mean": 22, "median": 3, "total": 110, "q1": 2, "q3": 4, "ld15iqr": 1, "hd15iqr": 4}
    )
    assert (stats["rounds"], stats["outliers"], stats["ops"]) == (5, "1;1", pytest.approx(1 / 22e-6))


@pytest.mark.parametrize("kind", ["bencher", "github-action-benchmark", "pytest-benchmark"])
def test_a_test_that_ran_again_is_there_once_and_what_costs_nothing_is_not(tmp_path, kind):
    free = result(profile(op("aten::mm", 3.0), op("aten::view", 0.0)), top=10)
    assert "aten::view" not in exported(kind, made_up_run(free), tmp_path)
    once = exported(kind, made_up_run(drifted()), tmp_path)
    assert exported(kind, made_up_run(result(test=TITLE), drifted()), tmp_path) == once


@pytest.mark.parametrize("kind", ["bencher", "github-action-benchmark", "pytest-benchmark"])
def test_an_empty_run(tmp_path, kind):
    assert json.loads(exported(kind, made_up_run(), tmp_path)) is not None


def test_what_is_no_json_is_refused(tmp_path):
    run = made_up_run(result(ratios={"conv/addmm": float("inf")}))
    with pytest.raises(ValueError, match="not JSON compliant"):
        exported("bencher", run, tmp_path)
    assert list(tmp_path.iterdir()) == []
