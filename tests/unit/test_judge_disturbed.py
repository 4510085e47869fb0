"""Which rounds compare: paces and loads, pairs, and what is said of those that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import on_device, step

from pytest_opcost.judge.disturbed import alike, calmest, comparable, disturbance


def at(pace_us: float, load: float = 0.0):
    return replace(step(), pace_us=pace_us, load=load)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (at(5.0), at(5.3), True),
        (at(5.0), at(5.5), False),
        (at(5.5), at(5.0), False),
        (at(0.0), at(5.5), False),  # a baseline of before paces were read
        (at(0.0), at(0.0), True),
        (at(5.0, load=0.0), at(5.0, load=1.0), True),
        (at(5.0, load=0.0), at(5.0, load=1.5), False),
        (at(5.0, load=3.0), at(5.0, load=0.0), False),
    ],
)
def test_what_compares(old, new, *, expected):
    assert comparable(old, new) is expected


def test_a_device_has_a_core_of_its_own():
    host, shared = at(5.0), at(9.0, load=4.0)
    assert not comparable(host, shared)
    assert comparable(on_device(host), replace(on_device(shared), pace_us=9.0))


def test_the_calmest_rounds_are_those_of_the_fastest_pace_and_the_least_load():
    calm = [at(5.0), at(5.1, load=0.9)]
    assert calmest([at(7.0), *calm, at(5.0, load=2.0)]) == calm
    unknown = [step(), replace(step(), load=0.5)]
    assert calmest(unknown) == unknown


def test_pairs_whose_sides_compare():
    head, base = [at(5.0)] * 3 + [at(8.0)] * 2 + [at(5.1)], [at(5.0)] * 4 + [at(8.1)] + [at(5.0)]
    assert alike(head, base) == [0, 1, 2, 4, 5]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (at(5.0), at(7.0), "a neighbour shared the core: fixed code took 40 % longer, so that only large changes"),
        (at(7.0), at(5.0), "the baseline was made on a shared core: fixed code took 40 % longer then, so record it"),
        (at(0.0), at(5.0), "the baseline does not know whether its core was shared: record it anew"),
        (at(5.0), at(5.0, load=3.0), "there was more work than cores: the thread had to wait"),
        (at(5.0, load=3.0), at(5.0), "the baseline was made with more work than cores"),
    ],
)
def test_what_is_said(old, new, says):
    (words,) = disturbance(old, new)
    assert words.startswith(says)


def test_nothing_is_said_of_what_compares():
    assert list(disturbance(at(5.0), at(5.2))) == []
