"""Which CUDA card comes first in which worker."""

from __future__ import annotations

import pytest

from pytest_opcost.cards import turn_cards


def _turned(*words: str, cards: int = 4, **environ: str) -> str | None:
    """CUDA_VISIBLE_DEVICES afterwards; None where it is as it was."""
    before = environ.get("CUDA_VISIBLE_DEVICES")
    turn_cards(words, environ, lambda: cards)
    after = environ.get("CUDA_VISIBLE_DEVICES")
    return None if after == before else after


@pytest.mark.parametrize(
    ("worker", "order"), [("gw1", "1,2,3,0"), ("gw3", "3,0,1,2"), ("gw6", "2,3,0,1"), ("gw0", "0,1,2,3")]
)
def test_each_worker_begins_with_another_card_and_sees_all(worker: str, order: str) -> None:
    assert _turned("--opcost", "--device=cuda", PYTEST_XDIST_WORKER=worker) == order


def test_cards_that_the_user_chose_are_kept() -> None:
    chosen = {"PYTEST_XDIST_WORKER": "gw1", "CUDA_VISIBLE_DEVICES": "GPU-a,GPU-b,7"}

    assert _turned("--opcost-device", "cpu,cuda", cards=3, **chosen) == "GPU-b,7,GPU-a"
    # Behind the first one that does not exist, CUDA ignores them.
    assert _turned("--opcost-device", "cpu,cuda", cards=2, **chosen) == "GPU-b,GPU-a"


@pytest.mark.parametrize("words", [("--device=cuda:1",), ("--device=cuda", "--device=cuda:1"), ("--opcost",)])
def test_an_explicit_card_is_obeyed_and_without_cuda_nothing_is_done(words: tuple[str, ...]) -> None:
    assert _turned(*words, PYTEST_XDIST_WORKER="gw1") is None


@pytest.mark.parametrize("cards", [0, 1])
def test_there_must_be_several(cards: int) -> None:
    assert _turned("--device=cuda", cards=cards, PYTEST_XDIST_WORKER="gw1") is None


def test_only_in_a_worker_and_only_once() -> None:
    assert _turned("--device=cuda") is None
    environ = {"PYTEST_XDIST_WORKER": "gw1"}
    for _ in range(2):  # the second time is pytest, run by a test of that worker
        turn_cards(["--device=cuda"], environ, lambda: 3)
    assert environ["CUDA_VISIBLE_DEVICES"] == "1,2,0"
