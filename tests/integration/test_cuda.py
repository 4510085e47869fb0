"""On a real GPU: device time comes from kernels, is told apart from host time, and a second run agrees."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

_TEST = """
def test_train(opcost, lenet_step):
    opcost.check(lenet_step)
"""


def _run(pytester, *args):
    options = ("--opcost", "--device=cuda", "--opcost-mnist=sample", "--opcost-batch-size=16", "--opcost-json=out.json")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *options, *args)
    (test,) = json.loads((pytester.path / "out.json").read_text())["tests"]
    return result, test


def test_device_time_is_that_of_the_kernels(pytester):
    pytester.makepyfile(_TEST)
    result, test = _run(pytester)
    result.assert_outcomes(passed=1)
    ops = {op["name"]: op for op in test["ops"]}
    assert ops["aten::cudnn_convolution"]["self_device_us"] > 0
    assert ops["aten::addmm"]["self_device_us"] > 0
    assert sum(op["share"] for op in ops.values()) == pytest.approx(1)
    # Annotations span idle time on the device's timeline: with them the total would exceed the step's wall time.
    assert 0 < test["total_device_us"] < test["step_us"]
    assert not [name for name in ops if name.startswith(("Optimizer.", "pytest-opcost"))]


def test_a_second_run_agrees(pytester):
    pytester.makepyfile(_TEST)
    _run(pytester)
    result, test = _run(pytester)
    result.assert_outcomes(passed=1)
    assert test["verdict"] == "passed"
    assert test["ratios"]["conv/addmm"] == pytest.approx(test["baseline_ratios"]["conv/addmm"], rel=0.02)


def test_tf32_is_a_setting_that_is_named(pytester):
    pytester.makepyfile(_TEST)
    _run(pytester)
    pytester.makeconftest("import torch\ntorch.backends.cudnn.allow_tf32 = False\n")
    result, test = _run(pytester)
    result.assert_outcomes(failed=1)
    assert test["findings"][0]["op"] == "cudnn_tf32"
    assert test["findings"][0]["message"] == "the setting cudnn_tf32 is off (was on)"


def test_a_step_that_stays_on_the_cpu_is_an_error(pytester):
    pytester.makepyfile(
        """
        import torch

        def test_forgotten(opcost):
            x = torch.ones(64, 64)
            opcost.check(lambda: x @ x)
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--opcost", "--device=cuda")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the profiler saw no kernel on cuda*", "*move the model and its input there*"])
    assert not list(pytester.path.glob("baselines/*/*.yaml"))
