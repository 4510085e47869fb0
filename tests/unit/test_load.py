"""How much other work the machine had: shares of other cores, and the time that this thread waited for one."""

from __future__ import annotations

import pytest

from pytest_opcost.measure import load as room


@pytest.fixture
def clocks(monkeypatch):
    """What the machine's counters say, in seconds; the test moves them on."""
    now = {"wall": 100.0, "busy": 50.0, "own": 5.0, "waited": 1.0}
    monkeypatch.setattr(room.time, "perf_counter", lambda: now["wall"])
    monkeypatch.setattr(room.time, "process_time", lambda: now["own"])
    monkeypatch.setattr(room, "_busy_seconds", lambda: now["busy"])
    monkeypatch.setattr(room, "_waited_seconds", lambda: now["waited"])
    monkeypatch.setattr(room.os, "cpu_count", lambda: 5)
    return now


def passed(clocks, *, harmless=0.0, **seconds):
    load = room.watch_load()
    for name, more in seconds.items():
        clocks[name] += more
    return load(harmless)


def test_our_own_work_is_no_load(clocks):
    assert passed(clocks, wall=2.0, busy=2.0, own=2.0) == 0


def test_nor_is_that_of_the_process_that_measures_in_turns_with_this_one(clocks):
    assert passed(clocks, wall=2.0, busy=2.0, own=1.0, harmless=1.0) == 0
    assert passed(clocks, wall=2.0, busy=3.0, own=1.0, harmless=1.0) == pytest.approx(0.125)


def test_one_of_four_other_cores(clocks):
    assert passed(clocks, wall=2.0, busy=4.0, own=2.0) == pytest.approx(0.25)


def test_all_other_cores_are_one_and_rounding_of_the_counters_is_no_more(clocks):
    assert passed(clocks, wall=2.0, busy=10.5, own=2.0) == 1


def test_counters_that_lag_behind_are_no_negative_load(clocks):
    assert passed(clocks, wall=2.0, busy=1.9, own=2.0) == 0


def test_waiting_for_a_core_weighs_ten_times(clocks):
    assert passed(clocks, wall=2.0, busy=10.0, own=2.0, waited=0.5) == pytest.approx(1 + 10 * 0.25)


def test_a_machine_without_such_counters_is_quiet(monkeypatch):
    monkeypatch.setattr(room.Path, "open", lambda *_, **__: (_ for _ in ()).throw(OSError))
    monkeypatch.setattr(room.Path, "read_text", lambda *_, **__: (_ for _ in ()).throw(OSError))
    assert room._busy_seconds() == 0
    assert room._waited_seconds() == 0
