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
    options = ("--opcost", "--device=cuda", "--opcost-mnist=sample", "--opcost-batch-size=16", "--opcost-rounds=1")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *options, "--opcost-json=out.json", *args)
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


def test_exact_facts_of_a_device(pytester):
    pytester.makepyfile(_TEST)
    _, test = _run(pytester)
    facts = {op["name"]: op["facts"] for op in test["ops"]}
    conv, addmm, backward = (facts[f"aten::{name}"] for name in ("cudnn_convolution", "addmm", "convolution_backward"))
    assert (conv["flops"], addmm["flops"]) == (345968640, 37789696)
    assert {place["module"] for place in conv["places"]} == {"conv1", "conv2"}
    assert {(place["phase"], place["module"]) for place in backward["places"]} == {
        ("backward", "conv1"),
        ("backward", "conv2"),
    }
    assert sum(count for _, count in conv["kernels"]) >= 2
    full_names = test["kernel_names"]
    assert all(name in full_names or "#" not in name for one in facts.values() for name, _ in one["kernels"])
    # A caching allocator may hand out a larger block than asked for: known, but not compared.
    assert conv["alloc_bytes"] > 0
    assert conv["varying"] == addmm["varying"] == ["alloc_bytes"]
    assert all(one["syncs"] == 0 for one in facts.values())


def test_copies_and_synchronisations_are_counted_where_they_happen(pytester):
    pytester.makepyfile(
        """
        import torch

        def test_waits(opcost):
            x = torch.ones(64, 64, device="cuda")

            def step():
                y = (x @ x).cpu().cuda()
                y.sum().item()
                torch.cuda.synchronize()

            opcost.check(step)
        """
    )
    _, test = _run(pytester)
    facts = {op["name"]: op["facts"] for op in test["ops"] if op["facts"]}
    waits = {name: one["syncs"] for name, one in facts.items() if one["syncs"]}
    assert waits == {"aten::copy_": 2, "aten::_local_scalar_dense": 1, "cudaDeviceSynchronize": 1}
    copies = [name for name, _ in facts["aten::copy_"]["kernels"]]
    assert sorted(name.split()[1] for name in copies) == ["DtoH", "HtoD"]


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
