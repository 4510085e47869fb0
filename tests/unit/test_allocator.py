"""Temporaries that lie elsewhere in every step."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_opcost.measure import allocator
from pytest_opcost.measure.allocator import shifted_heap


class Heap:
    """malloc and free, as far as they are called."""

    def __init__(self, addresses=(1, 2, 3)):
        self.addresses, self.sizes, self.freed = list(addresses), [], []

    def malloc(self, size):
        self.sizes.append(size)
        return self.addresses[len(self.sizes) - 1]

    def free(self, address):
        self.freed.append(address)


@pytest.fixture
def heap(monkeypatch):
    def fresh():
        made = Heap()
        monkeypatch.setattr(allocator, "_libc", lambda: made)
        return made

    return fresh


def sizes(heap, turn):
    made = heap()
    with shifted_heap(turn):
        assert made.freed == []
    assert sorted(made.freed) == [1, 2, 3]
    return made.sizes


def test_pads_are_whole_cache_lines_of_at_most_three_mebibytes(heap):
    for turn in range(50):
        made = sizes(heap, turn)
        assert all(size % 64 == 0 and 0 < size < 1024 * 1024 for size in made)


def test_every_turn_has_places_of_its_own_and_the_same_in_every_process(heap):
    turns = [tuple(sizes(heap, turn)) for turn in range(50)]
    assert len(set(turns)) == 50
    assert turns == [tuple(sizes(heap, turn)) for turn in range(50)]
    assert turns[0] == (885504, 403968, 794816)


def test_a_step_that_raises_leaves_no_pad_behind(heap):
    made = heap()
    with pytest.raises(ValueError, match="no"), shifted_heap(0):
        raise ValueError("no")
    assert sorted(made.freed) == [1, 2, 3]


def test_what_the_body_allocates_does_lie_elsewhere():
    """In a process of its own, since the knobs are the process's."""
    code = """
from pytest_opcost.measure import allocator
if allocator.keep_memory():
    libc = allocator._libc()
    for turn in range(20):
        with allocator.shifted_heap(turn):
            block = libc.malloc(2 << 20)
        print(block)
        libc.free(block)
"""
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    places = made.stdout.split()
    if not places:
        pytest.skip("there is no glibc here")
    assert len(set(places)) > 10
