"""Devices as torch itself sees them."""

from __future__ import annotations

import pytest

from pytest_opcost import DeviceError
from pytest_opcost.measure.environment import environments_of

from .project import told

torch = pytest.importorskip("torch")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
@pytest.mark.parametrize("option", ["--opcost-device=cuda", "--device=cpu,cuda:1"])
def test_cuda_asked_for_without_cuda_is_a_usage_error_that_says_how_to_mend_it(
    pytester: pytest.Pytester, option: str
) -> None:
    pytester.makepyfile("def test_model(opcost, opcost_device):\n    open('ran', 'w').close()\n")

    result = pytester.runpytest_inprocess("--opcost", option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    errors = " ".join(result.stderr.str().split())
    assert errors.startswith("ERROR: --opcost-device=cuda")
    assert "no such device is visible. Found: torch " in errors
    assert "Expected: a cuda device that torch can use" in errors
    assert "Without it: --opcost-device=cpu" in errors
    assert errors.count("ERROR") == 1
    assert "Traceback" not in errors + told(result)
    assert not (pytester.path / "ran").exists()


@pytest.mark.parametrize("option", ["--opcost-device", "--device"])
def test_a_device_beyond_the_last_is_refused_by_the_option_that_asked_for_it(
    monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)

    with pytest.raises(DeviceError) as raised:
        environments_of(["cuda:3"], 1, quiet=False, option=option)

    assert str(raised.value) == (
        f"{option}=cuda:3: torch {torch.__version__} sees 3 cuda device(s), cuda:0 to cuda:2.\n"
        f"Expected: one of them.\nFor example: {option}=cuda"
    )
