"""Each measured step finds its temporaries at another place of the device's memory, if that has room to spare."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

import torch

from pytest_opcost.measure import Plan, measure, profile
from pytest_opcost.measure.device_memory import has_room, shifted_memory
from pytest_opcost.measure.devices import Device
from pytest_opcost.partner import Alternation

if TYPE_CHECKING:
    from collections.abc import Iterator

CUDA = torch.device("cuda")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the pads that were asked for, of which none is had."""
    sizes: list[int] = []
    monkeypatch.setattr(torch, "empty", lambda size, **_: sizes.append(size))
    return sizes


def pads(asked: list[int], turn: int) -> tuple[int, ...]:
    asked.clear()
    with shifted_memory(CUDA, turn):
        return tuple(asked)


def test_pads_are_of_all_three_sizes_that_the_allocator_serves_apart(asked: list[int]) -> None:
    mib = 1024 * 1024
    for turn in range(50):
        made = pads(asked, turn)
        assert all(size > 0 and size % 512 == 0 for size in made)
        assert [sum(low < size <= high for size in made) for low, high in ((0, mib), (mib, 10 * mib))] == [2, 3]
        assert [10 * mib <= size <= 32 * mib for size in made].count(True) == 1


def test_every_turn_has_places_of_its_own_and_the_same_in_every_process(asked: list[int]) -> None:
    turns = [pads(asked, turn) for turn in range(50)]
    assert len(set(turns)) == 50
    assert turns == [pads(asked, turn) for turn in range(50)]
    assert turns[0][:2] == (807_936, 882_176)


def test_a_device_that_is_full_meanwhile_runs_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch, "empty", full)
    ran = False
    with shifted_memory(CUDA, 0):
        ran = True
    assert ran


@pytest.mark.parametrize(("free", "room"), [(1024**3, True), (1024**3 - 1, False)])
def test_there_is_room_from_a_gibibyte_on(monkeypatch: pytest.MonkeyPatch, free: int, room: bool) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 80 * 1024**3))
    assert has_room(CUDA) is room


def test_a_device_that_does_not_tell_its_room_is_left_alone() -> None:
    assert not has_room(torch.device("mps"))
    assert not has_room(torch.device("cpu"))


@pytest.mark.parametrize(
    ("clock", "free", "quiet", "turns"),
    [("cuda", True, True, [0, 1, 2, 3]), ("cuda", False, True, []), ("cuda", True, False, []), (None, True, True, [])],
)
def test_steps_are_taken_round_where_a_device_s_time_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, clock: str | None, free: bool, quiet: bool, turns: list[int]
) -> None:
    taken: list[int] = []

    @contextmanager
    def shifted(device: torch.device, turn: int) -> Iterator[None]:
        assert device is CUDA
        taken.append(turn)
        yield

    monkeypatch.setattr(profile, "shifted_memory", shifted)
    monkeypatch.setattr(profile, "has_room", lambda device: free)
    elsewhere = profile._places(Device(CUDA, clock, lambda: None), heap=False, memory=quiet)
    for turn in range(4):
        with elsewhere(turn):
            pass
    assert taken == turns


@pytest.mark.parametrize(("seconds", "steps"), [(1 / 16, 30), (1 / 256, 39), (1 / 4096, 100)])
def test_short_steps_on_a_device_s_clock_fill_some_time(
    monkeypatch: pytest.MonkeyPatch, seconds: float, steps: int
) -> None:
    taken: list[int] = []
    monkeypatch.setattr(profile.time, "perf_counter", lambda: len(taken) * seconds)
    taken.extend(profile._schedule(Plan("cuda", warmup=5), None, Alternation()))
    assert taken == [*range(1 + 5 + steps)]


def test_one_of_several_measurements_takes_a_third_of_the_steps_and_warms_up_once() -> None:
    plan = Plan("cuda", warmup=5)
    numbers = [[*profile._schedule(plan.repeated(number), None, Alternation())] for number in range(2)]
    assert numbers == [[*range(1 + warmup + 100 // 3)] for warmup in (5, 2)]


def test_one_of_several_measurements_takes_as_many_steps_as_are_asked_for() -> None:
    plan = Plan("cuda", warmup=1, steps=3).repeated(1)
    assert [*profile._schedule(plan, None, Alternation())] == [0, 1, 2, 3, 4]


def test_as_many_steps_as_are_asked_for() -> None:
    assert [*profile._schedule(Plan("cuda", warmup=1, steps=3), None, Alternation())] == [0, 1, 2, 3, 4]


def test_a_step_on_the_cpu_allocates_nothing_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> bool:
        raise AssertionError("asked")

    monkeypatch.setattr(profile, "has_room", never)
    weights = torch.ones(4)
    assert measure(lambda: weights + 1, Plan("cpu", warmup=0, steps=2, exact=False)).steps == 2
