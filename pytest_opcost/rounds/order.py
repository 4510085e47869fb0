"""Which round comes when: sides in ABBA order, tests interleaved."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.rounds.side import Side


def in_turns(sides: Sequence[Side], tests: list[str], count: int, made: int = 0) -> Iterator[tuple[Side, list[str]]]:
    """Up to `count` rounds for each side, which has made some: where it runs, and all `tests` in its order. Between two
    of them the caller may take some off the list.

    Two sides alternate as head, base, base, head: what drifts with time hits both alike. The rounds of a pair run their
    tests in the same order. The last pair is always completed, with the tests that it began with; the rounds end when
    no test is left.
    """
    for number in range(made, made + count):
        if not (order := turned(tests, number)):
            return
        for side in sides if number % 2 == 0 else reversed(sides):
            yield side, order


def turned(tests: Sequence[str], number: int) -> list[str]:
    """The tests in the order of that round: half of the rounds go backwards, and every two begin at another test.

    So no test always follows the same neighbour, and those of a file, which share fixtures, stay together. In four
    rounds each side is first once forwards and once backwards.
    """
    begin = number // 2 % len(tests) if tests else 0
    order = [*tests[begin:], *tests[:begin]]
    return order[::-1] if number % 4 in (1, 2) else order
