"""The pace of the core: of readings the lower quartile, of a real measurement a figure that repeats."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

import torch

from pytest_opcost.measure import Plan, measure
from pytest_opcost.measure import pace as pace_module
from pytest_opcost.measure.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_the_pace_is_that_of_the_quieter_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    def clock() -> Iterator[int]:
        now = 0
        for least in (9_000, 5_000, 6_000, 7_000, 8_000):
            for run in range(6):
                yield now
                now += least + (5 - run) * 1_000  # interrupts
                yield now

    monkeypatch.setattr(pace_module.time, "perf_counter_ns", clock().__next__)
    pace = Pace()
    assert pace.us == 0.0
    for _ in range(5):
        pace.read()

    assert pace.us == 6.0


def test_readings_are_taken_between_the_measured_steps_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr(Pace, "read", lambda self: order.append("pace"))
    weights = torch.ones(4)

    measure(lambda: (order.append("step"), weights + 1), Plan("cpu", warmup=2, steps=3, exact=False))

    assert order == ["step"] * 3 + ["pace", "step"] * 3


def test_a_measurement_knows_its_pace_and_torchs_random_numbers_are_left_alone() -> None:
    weights = torch.ones(4)
    torch.manual_seed(7)
    state = torch.get_rng_state()

    profile = measure(lambda: weights + 1, Plan("cpu", warmup=1, steps=3, exact=False))

    assert 0 < profile.pace_us < profile.wall_us * 1000
    assert torch.equal(torch.get_rng_state(), state)
    assert not any("random" in op.name or "bernoulli" in op.name for op in profile.ops)
    assert next(itertools.islice(profile.ops, 1)).name == "aten::add"
