"""Devices as torch itself sees them."""

from __future__ import annotations

import pytest

from .project import told

torch = pytest.importorskip("torch")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
@pytest.mark.parametrize("option", ["--device=cuda", "--device=cpu,cuda:1"])
def test_cuda_asked_for_without_cuda_is_a_usage_error_that_says_how_to_mend_it(
    pytester: pytest.Pytester, option: str
) -> None:
    pytester.makepyfile("def test_model(opcost, opcost_device):\n    open('ran', 'w').close()\n")

    result = pytester.runpytest_inprocess("--opcost", option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    errors = " ".join(result.stderr.str().split())
    assert errors.startswith("ERROR: --device=cuda")
    assert "no such device is visible. Found: torch " in errors
    assert "Expected: a cuda device that torch can use" in errors
    assert "Without it: --device=cpu" in errors
    assert errors.count("ERROR") == 1
    assert "Traceback" not in errors + told(result)
    assert not (pytester.path / "ran").exists()
