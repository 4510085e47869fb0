"""Every switch of torch that chooses kernels is a setting of what was measured: pitfall 16 of `test_pitfalls.py`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch

from pytest_opcost.measure import Plan, measure
from pytest_opcost.measure.environment import _settings, capture_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NEWER = pytest.mark.skipif(not hasattr(torch.backends.cudnn, "conv"), reason="fp32_precision came with torch 2.9")


def settings() -> dict[str, str]:
    return dict(capture_environment(torch.device("cpu"), 1, "quiet").settings)


@contextmanager
def switched(switch: Callable[[Any], object], value: object, before: object) -> Iterator[None]:
    switch(value)
    try:
        yield
    finally:
        switch(before)


@contextmanager
def precision(backend: Any, value: str) -> Iterator[None]:
    before = backend.fp32_precision
    backend.fp32_precision = value
    try:
        yield
    finally:
        backend.fp32_precision = before


SWITCHES: dict[str, Callable[[], Any]] = {
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "default_dtype": lambda: switched(torch.set_default_dtype, torch.float64, torch.float32),
    "deterministic": lambda: switched(torch.use_deterministic_algorithms, True, False),
    "float32_matmul_precision": lambda: switched(torch.set_float32_matmul_precision, "high", "highest"),
    "mkldnn": lambda: torch.backends.mkldnn.flags(enabled=False),
    "threads": lambda: switched(torch.set_num_threads, torch.get_num_threads() + 1, torch.get_num_threads()),
}


@pytest.mark.filterwarnings("ignore:TF32 acceleration:UserWarning")
@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_that_chooses_kernels_is_a_setting(name: str) -> None:
    before = settings()
    with SWITCHES[name]():
        during = settings()

    assert during[name] != before[name]
    assert settings() == before


@NEWER
@pytest.mark.parametrize("work", ["conv", "matmul"])
def test_what_stands_in_for_float32_on_a_cpu_is_a_setting(work: str) -> None:
    before = settings()
    with precision(getattr(torch.backends.mkldnn, work), "bf16"):
        during = settings()

    assert (before[f"mkldnn_{work}_fp32"], during[f"mkldnn_{work}_fp32"]) == ("ieee", "bf16")


@NEWER
def test_a_precision_that_the_older_switches_cannot_express_is_told_in_its_own_words() -> None:
    with precision(torch.backends.cuda.matmul, "tf32"):
        # torch refuses to say whether TF32 is allowed by the older names: that is no reason not to measure.
        cost = measure(lambda: torch.ones(4) + 1, Plan("cpu", warmup=1, steps=3))
        on_cuda = _settings(torch.device("cuda"))

    assert dict(cost.environment.settings)["float32_matmul_precision"] == "set by backend"
    assert (on_cuda["matmul_tf32"], on_cuda["matmul_fp32"]) == ("set by backend", "tf32")


@NEWER
def test_older_switches_that_say_it_all_are_not_repeated_in_newer_words() -> None:
    assert not [name for name in _settings(torch.device("cuda")) if name.endswith("fp32")]


def test_settings_are_those_in_force_while_the_step_is_measured() -> None:
    def step() -> object:
        torch.set_num_threads(2)
        return torch.ones(4) + 1

    cost = measure(step, Plan("cpu", warmup=1, steps=3))

    assert dict(cost.environment.settings)["threads"] == "2"
    assert cost.environment.threads == 1
