"""LeNet on the sample of MNIST, measured with torch's own profiler on the CPU.

What is asserted is exact, or moved by a factor of six and more: the machine that this runs on may be as noisy as can
be. Smaller drifts are judged on made-up figures in `test_dearer.py` and `test_ratio.py`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from .project import INI, failure

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")
pytestmark = [
    pytest.mark.usefixtures("warm_torch"),
    pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="the operators' names are those of oneDNN"),
]

if TYPE_CHECKING:
    from pathlib import Path

_TESTS = """
import os

import pytest
import torch
from torch import nn

from pytest_opcost.workloads.models import LeNet, build
from pytest_opcost.workloads.steps import inference_step, training_step

VARIANT = os.environ.get("VARIANT")
# Timings are not the point here, unless the test at hand says so.
pytestmark = pytest.mark.opcost(tolerance=1000, ratios={"conv/addmm": 1000})


class Lab(LeNet):
    def __init__(self):
        super().__init__()
        if VARIANT == "wide":
            self.fc1, self.fc2 = nn.Linear(64 * 12 * 12, 2048), nn.Linear(2048, 10)

    def forward(self, images):
        return super().forward(images.clone() if VARIANT == "clone" else images)


def test_train(opcost, opcost_device, mnist, opcost_batch_size):
    step = training_step(build(Lab, opcost_device), *mnist.batch(opcost_batch_size))
    opcost.check(step, tolerance=0.2 if VARIANT == "timed" else None)


def test_infer(opcost, opcost_device, mnist, opcost_batch_size):
    step = inference_step(build(Lab, opcost_device), mnist.batch(opcost_batch_size)[0])
    ratios = {"conv/addmm": 0.1} if VARIANT == "wide" else {}
    with torch.backends.mkldnn.flags(enabled=VARIANT != "mkldnn"):
        opcost.check(step, ratios=ratios, steps=25)  # short ones, of which a busy neighbour may hit many in a row
"""


class Lab:
    """The Lab's two tests, recorded; a variant of the network can be measured against that."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self._pytester, self._monkeypatch = pytester, monkeypatch
        # torch.backends.mkldnn.flags itself warns where there is no Intel GPU.
        pytester.makeini(f"{INI}  ignore:TF32 acceleration:UserWarning\n")
        pytester.makepyfile(test_lab=_TESTS)
        self.run("").assert_outcomes(passed=2)

    def run(self, variant: str, *options: str) -> pytest.RunResult:
        self._monkeypatch.setenv("VARIANT", variant)
        fixed = "--opcost --opcost-mnist=sample --opcost-batch-size=16 --opcost-json=out.json"
        quick = "--opcost-steps=6 --opcost-warmup=2 --opcost-rounds=1 --opcost-confirm=0"
        return self._pytester.runpytest_inprocess(*fixed.split(), *quick.split(), *options)

    def results(self) -> dict[str, dict[str, Any]]:
        """What the last run measured and judged, by the test's name."""
        tests = json.loads((self._pytester.path / "out.json").read_text("utf-8"))["tests"]
        return {test["family"].partition("::")[2]: test for test in tests}

    def baseline(self, test: str) -> Path:
        (path,) = (self._pytester.path / "baselines").rglob(f"*{test}*.yaml")
        return path


@pytest.fixture
def lab(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(pytester, monkeypatch)


@pytest.fixture
def unwatched(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of the core's neighbours and of the machine's load: what they do while one side is measured
    would leave the verdict undecided, as it should be.
    """
    monkeypatch.setattr("pytest_opcost.measure.pace.Pace.us", 0.0)
    monkeypatch.setattr("pytest_opcost.measure.profile.watch_load", lambda: lambda _harmless: 0.0)
    # Baselines are recorded in fresh processes.
    for test in ("test_train", "test_infer"):
        path = lab.baseline(test)
        text = re.sub(r", pace_us: [\d.]+", "", path.read_text("utf-8"))
        path.write_text(re.sub(r", load: [\d.]+", ", load: 0.0", text), encoding="utf-8")


def test_the_second_run_finds_the_same_operators(lab: Lab) -> None:
    result = lab.run("")

    result.assert_outcomes(passed=2)
    for test in lab.results().values():
        assert test["compared"]
        kinds = {finding["kind"] for finding in test["findings"]}
        assert kinds <= {"not_told_at_this_noise", "machine_changed", "operator_cheaper"}


def test_what_is_measured_adds_up(lab: Lab) -> None:
    results = lab.results()

    assert results.keys() == {"test_train", "test_infer"}
    for name, test in results.items():
        assert sum(op["share"] for op in test["ops"]) == pytest.approx(1)
        assert sum(op["self_host_us"] for op in test["ops"]) == pytest.approx(test["total_host_us"])
        assert test["steps"] == (25 if name == "test_infer" else 6)
        assert test["data"] == "MNIST sample: 1,000 + 500 images shipped with pytest-opcost"
    calls = {op["name"]: op["calls"] for op in results["test_infer"]["ops"]}
    assert calls["aten::mkldnn_convolution"] == calls["aten::addmm"] == 2
    assert calls["aten::max_pool2d_with_indices"] == 1
    assert results["test_infer"]["ratios"].keys() == {"conv/addmm"}
    assert results["test_train"]["ratios"].keys() == {"conv/addmm", "conv/addmm forward"}


def test_one_clone_more_is_named_with_its_calls(lab: Lab) -> None:
    result = lab.run("clone", "-k", "test_infer")

    result.assert_outcomes(failed=1, deselected=1)
    message = failure(result)
    line = next(i for i, line in enumerate(_TESTS.lstrip("\n").splitlines(), 1) if "images.clone()" in line)
    assert f"- aten::clone (copy) is new: 1 call a step (was 0), in Lab at test_lab.py:{line}; it takes " in message
    assert "test_lab.py::test_infer[cpu-16] drifted" in message


def test_a_backend_switched_off_is_named(lab: Lab) -> None:
    result = lab.run("mkldnn", "-k", "test_infer")

    result.assert_outcomes(failed=1, deselected=1)
    message = failure(result)
    assert "- the setting mkldnn is off (was on)\n" in message
    assert "- conv now runs as aten::" in message
    assert "(was aten::mkldnn_convolution)\n" in message


@pytest.mark.usefixtures("unwatched")
def test_a_wider_layer_moves_the_ratio_and_its_side_is_named(lab: Lab) -> None:
    result = lab.run("wide", "-k", "test_infer")

    result.assert_outcomes(failed=1, deselected=1)
    message = failure(result)
    assert "- conv/addmm: " in message
    assert ": addmm moved, addmm " in message
    (finding,) = (f for f in lab.results()["test_infer"]["findings"] if f["kind"] == "ratio_drifted")
    assert finding["current"] < finding["baseline"] / 3


def test_a_wider_layer_is_told_by_what_it_takes_and_not_by_its_time(lab: Lab) -> None:
    result = lab.run("wide", "-k", "test_train")

    result.assert_outcomes(failed=1, deselected=1)
    message = failure(result)
    takes = "f32[10] f32[16,2048] f32[2048,10], f32[2048] f32[16,9216] f32[9216,2048]"
    was = "f32[10] f32[16,128] f32[128,10], f32[128] f32[16,9216] f32[9216,128]"
    # What it took is told, and is no finding of its own.
    assert f"- aten::addmm (addmm) takes {takes} (was {was}); 604.6 MFLOP a step (was 37.79 MFLOP); time " in message
    findings = [finding for finding in lab.results()["test_train"]["findings"] if finding["op"] == "aten::addmm"]
    assert [finding["kind"] for finding in findings] == ["inputs_changed"]
    assert "aten::mkldnn_convolution" not in message


def test_another_batch_size_is_another_test(lab: Lab) -> None:
    result = lab.run("", "--opcost-batch-size=4", "-k", "test_infer", "--opcost-missing=report")

    result.assert_outcomes(passed=1, deselected=1)
    assert not lab.results()["test_infer"]["compared"]


@pytest.mark.usefixtures("unwatched")
def test_an_operator_dearer_than_its_baseline_fails_its_test_alone(lab: Lab) -> None:
    path = lab.baseline("test_train")
    lines = path.read_text("utf-8").splitlines(keepends=True)
    (index,) = (i for i, line in enumerate(lines) if "'aten::sqrt_'" in line)
    before, _, rest = lines[index].partition("self_host_us: ")
    cost, _, rest = rest.partition(", ")
    lines[index] = f"{before}self_host_us: {float(cost) / 10:.4g}, {rest}"
    path.write_text("".join(lines), encoding="utf-8")

    result = lab.run("timed")

    result.assert_outcomes(failed=1, passed=1)
    message = failure(result)
    assert "test_lab.py::test_train[cpu-16] drifted" in message
    assert "\n- aten::sqrt_ (elementwise): " in message
