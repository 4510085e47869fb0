"""What goes with a measurement: how far rounds are, in words, and which turns are taken."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from records import CPU, CUDA

from pytest_opcost import measuring, turns
from pytest_opcost.measuring import Course, Measuring
from pytest_opcost.rounds.followed import Followed
from pytest_opcost.status import duration

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the devices whose turns are taken."""
    names: list[str] = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    one = turns.Turns._one
    monkeypatch.setattr(
        turns.Turns, "_one", lambda self, place, waiting: names.append(place) or one(self, place, waiting)
    )
    return names


def _measuring(*devices: str, only_measure: bool = False) -> Measuring:
    options: Any = SimpleNamespace(devices=devices, only_measure=only_measure, turns_wait=True)
    card = replace(CUDA, details=(("card", "1a2b3c4d"),))
    found = Measuring(options)
    found.begin([CPU if device == "cpu" else card for device in devices], None)
    return found


def test_the_time_left_is_told_once_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring.time, "monotonic", lambda: 130.0)

    course = Course("recording", 5, begun=100.0)
    assert course.told(0.0) == "recording, round 1 of 5"
    assert course.told(0.5) == "recording, round 1 of 5, 4 min left"
    course.done = 2
    assert course.told(0.5) == "recording, round 3 of 5, 30 s left"
    assert Course("confirming", 12, at_most=True, done=3, begun=100.0).told(0.0) == (
        "confirming, round 4 of at most 12, at most 90 s left"
    )


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.4, "0 s"), (99.4, "99 s"), (99.6, "2 min"), (3600.0, "60 min"), (9000.0, "2.5 h")]
)
def test_a_time_to_wait_for(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_a_step_takes_the_turn_of_its_card_whatever_that_is_called(taken: list[str]) -> None:
    found = _measuring("cpu", "cuda")

    for device in ("cpu", "cuda", "cuda:1"):
        with found.step("test_x.py::test_y", device):
            pass

    assert taken == ["cpu", "cuda-1a2b3c4d", "cuda:1"]


def test_a_round_takes_the_turns_of_all_its_tests(taken: list[str]) -> None:
    found = _measuring("cpu", "cuda")
    found.expect({"a": "cpu", "b": "cuda"})
    course = Course("recording", 2)

    with found.round(["a"], course):
        assert taken == ["cpu"]
    with found.round(["a", "b"], course) as watch:
        assert taken[1:] == ["cpu", "cuda-1a2b3c4d"]
        assert watch is None, "nobody sees it"
    assert course.done == 2


def test_a_process_that_is_a_round_takes_none(taken: list[str]) -> None:
    with _measuring("cpu", only_measure=True).step("a", "cpu"):
        pass

    assert taken == []


def test_what_a_round_has_sent_home_so_far(tmp_path: Path) -> None:
    home = tmp_path / "found.jsonl"
    followed = Followed(home)

    followed.look()
    assert (followed.finished, followed.running) == (0, "")
    home.write_text('{"kind": "started", "test": "a"}\n{"kind": "measured", "results": []}\n{"kind": "fini')
    followed.look()
    assert (followed.finished, followed.running) == (0, "a")
    with home.open("a") as file:
        file.write('shed", "test": "a"}\n{"kind": "started", "test": "b"}\n')
    followed.look()
    followed.look()
    assert (followed.finished, followed.running) == (1, "b")
