"""Two processes that measure in turns, here two threads: who measures when, and one without the other."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import pytest

from pytest_opcost import partner as room
from pytest_opcost.partner import Alternation, Partner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TESTS = ["test_a", "test_b", "test_c"]


@pytest.fixture(autouse=True)
def _every_step_is_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "TURN_SECONDS", 0.0)


@pytest.fixture
def partners() -> Iterator[list[Partner]]:
    """Both ends; the former begins."""
    ends = socket.socketpair()
    yield [Partner(end, TESTS, first=number == 0) for number, end in enumerate(ends)]
    for end in ends:
        end.close()


def measured(partner: Partner, steps: int, note: Callable[[str], None]) -> Alternation:
    """A measurement as `measure` makes it: a note for each step."""
    with partner.met() as turns:
        for number in range(steps):
            if number:
                turns.next_step()
            note("step")
        note("done")
    return turns


def in_turns(steps: int) -> list[str]:
    """What is noted where both measure so many steps, each of them a turn."""
    return [*["A step", "B step"] * (steps - 1), "A step", "A done", "B step", "B done"]


def together(partners: list[Partner], *works: Callable[[Partner, Callable[[str], None]], object]) -> list[str]:
    """What both noted, in its order: each of them works in a thread of its own and says then that it has come to its
    end."""
    events: list[str] = []

    def run(name: str, partner: Partner, work: Callable[[Partner, Callable[[str], None]], object]) -> None:
        work(partner, lambda what: events.append(f"{name} {what}"))
        partner.end()

    threads = [
        threading.Thread(target=run, args=(name, partner, work), daemon=True)
        for name, partner, work in zip("AB", partners, works)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return events


def test_every_other_turn_is_the_other_one_s(partners: list[Partner]) -> None:
    def work(partner: Partner, note: Callable[[str], None]) -> None:
        partner.at("test_a")
        measured(partner, 3, note)

    assert together(partners, work, work) == in_turns(3)
    assert not any(partner.lost for partner in partners)


def test_a_turn_lasts_its_time(partners: list[Partner], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "TURN_SECONDS", 1e9)

    def work(partner: Partner, note: Callable[[str], None]) -> None:
        partner.at("test_a")
        turns = measured(partner, 3, note)
        assert turns.waited == 0

    assert together(partners, work, work) == [f"{name} {what}" for name in "AB" for what in [*["step"] * 3, "done"]]


def test_who_has_more_steps_goes_on_alone(partners: list[Partner]) -> None:
    def work(steps: int) -> Callable[[Partner, Callable[[str], None]], object]:
        return lambda partner, note: (partner.at("test_a"), measured(partner, steps, note))

    ends = ["B done", "A step", "A step", "A done"]
    assert together(partners, work(4), work(2)) == [*["A step", "B step"] * 2, *ends]


def test_neither_goes_on_while_the_other_one_measures(partners: list[Partner]) -> None:
    def few(partner: Partner, note: Callable[[str], None]) -> None:
        partner.at("test_a")
        measured(partner, 1, note)
        note("goes on")

    def many(partner: Partner, note: Callable[[str], None]) -> None:
        partner.at("test_a")
        measured(partner, 5, note)

    assert together(partners, few, many) == ["A step", "A done", *["B step"] * 5, "B done", "A goes on"]


def test_a_step_that_raises_leaves_the_time_to_the_other_one(partners: list[Partner]) -> None:
    def fails(partner: Partner, note: Callable[[str], None]) -> None:
        partner.at("test_a")
        with pytest.raises(ZeroDivisionError), partner.met():
            note(f"fails {1 // 0}")
        partner.at("test_b")
        measured(partner, 2, note)

    def work(partner: Partner, note: Callable[[str], None]) -> None:
        for test in ("test_a", "test_b"):
            partner.at(test)
            measured(partner, 2, note)

    assert together(partners, fails, work) == ["B step", "B step", "B done", *in_turns(2)]


@pytest.mark.parametrize("lacking", [0, 1])
def test_a_check_that_one_side_lacks_is_measured_alone_and_the_next_one_together(
    partners: list[Partner], lacking: int
) -> None:
    def work(number: int) -> Callable[[Partner, Callable[[str], None]], object]:
        def checks(partner: Partner, note: Callable[[str], None]) -> None:
            for test, count in (
                ("test_a", 1 if number == lacking else 2),
                ("test_b", number != lacking),
                ("test_c", 1),
            ):
                partner.at(test)
                for check in range(count):
                    measured(partner, 2, lambda what, test=test, check=check: note(f"{test} {check} {what}"))

        return checks

    events = together(partners, work(0), work(1))

    more = "BA"[lacking]
    alone = [f"{more} {test} {what}" for test in ("test_a 1", "test_b 0") for what in ("step", "step", "done")]
    assert [event for event in events if "test_a 1" in event or "test_b" in event] == alone
    assert [event.replace(" test_c 0", "") for event in events[-6:]] == in_turns(2)
    assert events.index(alone[-1]) < len(events) - 6
    assert not any(partner.lost for partner in partners)


@pytest.mark.parametrize("more", [0, 1])
def test_a_repetition_is_met_by_the_same_one_of_the_other_side(partners: list[Partner], more: int) -> None:
    """Whatever checks one of them has more, and however often it runs the test."""

    def work(number: int) -> Callable[[Partner, Callable[[str], None]], object]:
        def checks(partner: Partner, note: Callable[[str], None]) -> None:
            for repetition in range(3 if number == more else 2):
                partner.at("test_a", repetition)
                for check in range(2 if number == more else 1):
                    measured(partner, 2, lambda what, at=f"{repetition} {check}": note(f"{at} {what}"))
            partner.at("test_b")
            measured(partner, 2, lambda what: note(f"b {what}"))

        return checks

    events = together(partners, work(0), work(1))

    for met in ("0 0", "1 0", "b"):
        assert [event.replace(f" {met}", "") for event in events if f" {met} " in event] == in_turns(2)
    for alone in ("0 1", "1 1", "2 0", "2 1"):
        name = "AB"[more]
        told = [f"{name} {alone} step"] * 2 + [f"{name} {alone} done"]
        assert [event for event in events if f" {alone} " in event] == told
    assert not any(partner.lost for partner in partners)


def test_after_the_other_one_s_end_all_time_is_ours(partners: list[Partner]) -> None:
    def work(partner: Partner, note: Callable[[str], None]) -> None:
        for test in ("test_a", "test_b"):
            partner.at(test)
            measured(partner, 2, note)

    def ends(partner: Partner, note: Callable[[str], None]) -> None:
        partner.at("test_a")
        measured(partner, 2, note)

    assert together(partners, work, ends).count("A step") == 4
    assert not partners[0].lost


def test_one_that_died_is_lost_and_not_waited_for(partners: list[Partner]) -> None:
    def dies(partner: Partner, note: Callable[[str], None]) -> None:
        partner.at("test_a")
        with partner.met() as turns:
            note("step")
            turns.next_step()
            partner._connection.close()

    def work(partner: Partner, note: Callable[[str], None]) -> None:
        for test in ("test_a", "test_b"):
            partner.at(test)
            measured(partner, 3, note)

    events: list[str] = []
    thread = threading.Thread(target=work, args=(partners[1], events.append), daemon=True)
    thread.start()
    dies(partners[0], events.append)
    thread.join(60)

    assert events.count("done") == 2
    assert partners[1].lost


def test_one_that_does_not_come_is_lost(partners: list[Partner], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "PATIENCE_SECONDS", 0.01)
    notes: list[str] = []
    partners[0].at("test_a")

    measured(partners[0], 2, notes.append)

    assert notes == ["step", "step", "done"]
    assert partners[0].lost
    partners[1].at("test_a")
    measured(partners[1], 1, notes.append)  # which need not wait for us either
    assert partners[1].lost


def test_the_other_one_s_processor_time_is_told(partners: list[Partner], monkeypatch: pytest.MonkeyPatch) -> None:
    """By its words, the first of which tells what it had used before."""
    used = threading.local()

    def process_time() -> float:
        used.seconds = getattr(used, "seconds", 0.0) + 1.0
        return float(used.seconds)

    monkeypatch.setattr(room.time, "process_time", process_time)
    told: dict[str, float] = {}

    def work(name: str) -> Callable[[Partner, Callable[[str], None]], object]:
        def steps(partner: Partner, note: Callable[[str], None]) -> None:
            partner.at("test_a")
            with partner.met() as turns:
                for _ in range(3):
                    turns.next_step()
                told[name] = turns.their_seconds

        return steps

    together(partners, work("A"), work("B"))

    assert told == {"A": 3.0, "B": 4.0}  # three turns; and B has heard that A is done


def test_without_a_partner_all_time_is_ours() -> None:
    turns = Alternation()
    turns.next_step()
    turns.end()
    assert (turns.waited, turns.their_seconds) == (0, 0)
