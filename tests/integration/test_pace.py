"""The pace of the core: steps wait for a core of their own, and of what they found the lower quartile is kept."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

import torch

from pytest_opcost.measure import Plan, measure
from pytest_opcost.measure import pace as pace_module
from pytest_opcost.measure.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Core:
    """A core whose fixed code takes so many nanoseconds, reading by reading; sleeping takes as long as it should."""

    def __init__(self, readings: Iterable[int], interrupts: Sequence[int] = (0,) * 6) -> None:
        self.now, self.slept = 0, 0
        self._readings, self._interrupts = iter(readings), interrupts
        self._laps: list[int] = []

    def perf_counter_ns(self) -> int:
        """Called in pairs, six pairs a reading."""
        if not self._laps:
            reading = next(self._readings)
            self._laps = [lap for late in self._interrupts for lap in (0, reading + late)]
        self.now += self._laps.pop(0)
        return self.now

    def perf_counter(self) -> float:
        return self.now / 1e9

    def sleep(self, seconds: float) -> None:
        self.slept += 1
        self.now += round(seconds * 1e9)


@pytest.fixture(autouse=True)
def _unknown_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "_least", 1 << 62)


def settled(core: Core, times: int, monkeypatch: pytest.MonkeyPatch) -> Pace:
    with monkeypatch.context() as patch:
        patch.setattr(pace_module, "time", core)
        pace = Pace(patience=1.0)
        for _ in range(times):
            pace.settle()
    return pace


def test_the_pace_is_that_of_the_quieter_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    core = Core((5_400, 5_300, 5_200, 5_100, 5_000), interrupts=(5_000, 4_000, 3_000, 2_000, 1_000, 0))

    assert Pace(patience=1.0).us == 0.0
    assert settled(core, 5, monkeypatch).us == 5.1


def test_a_step_waits_until_the_core_is_its_own_again(monkeypatch: pytest.MonkeyPatch) -> None:
    core = Core((4_600, 6_700, 6_400, 4_620, 4_650))

    pace = settled(core, 3, monkeypatch)

    assert core.slept == 2
    assert pace.us == pytest.approx(4.61)
    assert pace.waited == pytest.approx(0.004, rel=0.05)


def test_the_first_reading_of_a_shared_core_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    core = Core((6_700, 6_800, 4_600, 6_700, 4_600))

    pace = settled(core, 4, monkeypatch)

    assert core.slept == 1
    assert pace.us == 4.6


def test_a_neighbour_that_stays_is_waited_for_once_and_for_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    core = Core(itertools.chain([4_600], itertools.repeat(6_700)))
    pace = settled(core, 10, monkeypatch)
    assert pace.waited == pytest.approx(1.0, abs=0.01)
    assert pace.us == 6.7

    assert settled(core, 10, monkeypatch).waited < 0.01
    # Once it has gone, the core is known for one of our own again.
    gone = Core((4_600, 6_700, 6_700, 4_600))
    assert settled(gone, 2, monkeypatch).us == 4.6
    assert gone.slept == 2


def test_readings_are_taken_between_the_measured_steps_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr(Pace, "settle", lambda self: order.append("pace"))
    weights = torch.ones(4)

    measure(lambda: (order.append("step"), weights + 1), Plan("cpu", warmup=2, steps=3, exact=False))

    assert order == ["step"] * 3 + ["pace", "step"] * 3


def test_waiting_is_no_time_that_steps_fill(monkeypatch: pytest.MonkeyPatch) -> None:
    def waits(pace: Pace) -> None:
        start = time.perf_counter()
        time.sleep(0.002)
        pace.waited += time.perf_counter() - start

    monkeypatch.setattr(Pace, "settle", waits)
    weights = torch.ones(4)

    # 300 pauses last 0.6 s or more, twice as long as steps are to fill.
    assert measure(lambda: weights + 1, Plan("cpu", warmup=0, exact=False)).steps == 300


def test_a_measurement_knows_its_pace_and_torchs_random_numbers_are_left_alone() -> None:
    weights = torch.ones(4)
    torch.manual_seed(7)
    state = torch.get_rng_state()

    profile = measure(lambda: weights + 1, Plan("cpu", warmup=1, steps=3, exact=False))

    assert 0 < profile.pace_us < profile.wall_us * 1000
    assert torch.equal(torch.get_rng_state(), state)
    assert not any("random" in op.name or "bernoulli" in op.name for op in profile.ops)
    assert next(itertools.islice(profile.ops, 1)).name == "aten::add"
