"""Where the nodes of a graph are drawn."""

from __future__ import annotations

from itertools import pairwise

import pytest

pytest.importorskip("networkx")

from pytest_opcost.report.drawing.layers import _apart, layered


def across(layout):
    return [round(x, 6) for x, _ in layout.places]


def down(layout):
    return [y for _, y in layout.places]


def test_a_chain_is_a_straight_line():
    layout = layered(4, [(0, 1), (1, 2), (2, 3)], [0])
    assert down(layout) == [0, 1, 2, 3]
    assert across(layout) == [0, 0, 0, 0]
    assert (layout.width, layout.depth) == (0, 4)


def test_what_is_fed_in_from_aside_stands_right_above_what_it_is_for_and_bends_nothing():
    layout = layered(6, [(0, 1), (1, 2), (2, 3), (4, 5), (5, 3)], [0])
    assert down(layout) == [0, 1, 2, 3, 1, 2]
    assert across(layout)[:4] == [0, 0, 0, 0]
    assert across(layout)[4] == across(layout)[5] > 1


def test_of_several_inputs_the_one_that_most_follows_from_makes_the_stream():
    labels, images = 0, 1
    layout = layered(6, [(images, 2), (2, 3), (3, 4), (labels, 5), (4, 5)], [labels, images])
    assert down(layout) == [3, 0, 1, 2, 3, 4]


def test_an_arrow_passes_beside_the_boxes_that_it_skips():
    edges = [(0, 1), (1, 2), (2, 3), (0, 3)]
    layout = layered(4, edges, [0])
    assert across(layout) == [0, 0, 0, 0]
    *straight, around = layout.routes
    assert list(straight) == [((0, at), (0, at + 1)) for at in range(3)]
    assert [y for _, y in around] == [0, 1, 2, 3]
    (_, *passed, _) = around
    assert all(x > 0.5 for x, _ in passed)


def test_the_longer_of_two_branches_is_straight_and_the_other_beside_it():
    # A residual block with a convolution on the way around.
    layout = layered(6, [(0, 1), (1, 2), (2, 3), (3, 5), (0, 4), (4, 5)], [0])
    places = across(layout)
    assert len({round(places[node], 3) for node in (0, 1, 2, 3, 5)}) == 1
    assert places[4] - places[1] > 1


def test_boxes_of_a_row_never_overlap():
    edges = [(0, node) for node in range(1, 8)] + [(node, 8) for node in range(1, 8)]
    row = sorted(across(layered(9, edges, [0]))[1:8])
    assert all(right - left > 1.11 for left, right in pairwise(row))


def test_crossed_arrows_are_uncrossed():
    layout = layered(6, [(0, 1), (0, 2), (1, 4), (2, 3), (3, 5), (4, 5)], [0])
    places = across(layout)
    assert (places[1] < places[2]) == (places[4] < places[3])


def test_the_nearest_places_that_keep_the_gaps():
    assert _apart([0.0, 5.0], [1.0], [1.0, 1.0]) == [0.0, 5.0]
    assert _apart([3.0, 3.0], [1.0], [1.0, 1.0]) == [2.5, 3.5]
    assert _apart([3.0, 3.0], [1.0], [3.0, 1.0]) == [2.75, 3.75]
    assert _apart([4.0, 3.0, 0.0], [1.0, 1.0], [1.0, 1.0, 1.0]) == pytest.approx([4 / 3, 7 / 3, 10 / 3])


def test_nothing_has_a_layout_too():
    layout = layered(0, [])
    assert (layout.places, layout.routes, layout.width, layout.depth) == ((), (), 0, 0)
