"""Where to draw the nodes of a directed graph: layers from top to bottom, as few crossings as a few sweeps achieve.

After K. Sugiyama, S. Tagawa and M. Toda, "Methods for visual understanding of hierarchical system structures" (1981):
layers, stand-ins where an arrow passes one, an order by the mean place of the neighbours; last the horizontal places,
each row by weighted isotonic regression (pool adjacent violators), which is the nearest one without overlaps.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SWEEPS = 8
#: How far neighbours in a row lie apart, centre to centre: two boxes, and an arrow that passes, as parts of a box.
_BOX, _ARROW = 1.12, 0.16
#: How much it counts where a node wants to be: on the longest chain, on another, aside, and as an arrow that passes.
#: Each gives way to those before it, all but wholly: what is wanted is tried many times over.
_MAIN, _OTHER, _ASIDE, _PASSING = 1.0, 1e-4, 1e-7, 1e-10


@dataclass(frozen=True, slots=True)
class Layout:
    """Places in units of a box's width (across, from 0) and of layers (down, from 0): of the nodes, in their order, and
    of the points that each edge passes, both ends included.
    """

    places: tuple[tuple[float, int], ...]
    routes: tuple[tuple[tuple[float, int], ...], ...]
    width: float
    depth: int


def layered(count: int, edges: Sequence[tuple[int, int]], anchored: Iterable[int] = ()) -> Layout:
    """Places for nodes 0 to `count` - 1 of an acyclic graph; equal graphs have equal layouts.

    What follows from one of the `anchored` nodes, the one that most follows from, is the stream, as high as it can be;
    everything else stands aside, right above what it is for.
    """
    layer, length = _layers(count, edges, anchored)
    # Stand-ins for edges that pass layers: (edge, layer).
    chains: list[list[int]] = []
    row_of, is_box = list(layer), [True] * count
    longest = max(length, default=0)
    weights = [_ASIDE if not chain else _MAIN if chain == longest else _OTHER for chain in length]
    for source, target in edges:
        passed = range(layer[source] + 1, layer[target])
        chain = [source, *range(len(row_of), len(row_of) + len(passed)), target]
        row_of += passed
        is_box += [False] * len(passed)
        # One that passes layers is on no longest chain.
        length += [0] * len(passed)
        weights += [_PASSING] * len(passed)
        chains.append(chain)
    rows: list[list[int]] = [[] for _ in range(max(row_of, default=-1) + 1)]
    for node in range(len(row_of)):
        rows[row_of[node]].append(node)
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    for chain in chains:
        for source, target in pairwise(chain):
            above[target].append(source)
            below[source].append(target)

    across = [0.0] * len(row_of)
    for row in rows:
        for rank, node in enumerate(row):
            across[node] = float(rank)
    for sweep in range(2 * _SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            near = above if down else below
            wanted = {node: _wanted(node, near[node], across, length) for node in row}
            if sweep < _SWEEPS:
                row.sort(key=lambda node: wanted[node])
            gaps = [
                _BOX if is_box[one] and is_box[two] else (_BOX + _ARROW) / 2 if is_box[one] or is_box[two] else _ARROW
                for one, two in pairwise(row)
            ]
            for node, place in zip(row, _apart([wanted[node] for node in row], gaps, [weights[node] for node in row])):
                across[node] = place
    left = min(across, default=0.0)
    points = [(round(place - left, 6), row) for place, row in zip(across, row_of)]
    return Layout(
        places=tuple(points[:count]),
        routes=tuple(tuple(points[node] for node in chain) for chain in chains),
        width=max((place for place, _ in points), default=0.0),
        depth=len(rows),
    )


def _wanted(node: int, near: Sequence[int], across: Sequence[float], length: Sequence[int]) -> float:
    """In line with the neighbours on the longest chain: what the graph is for stays straight, the rest goes around."""
    longest = max((length[other] for other in near), default=0)
    ahead = [across[other] for other in near if length[other] == longest]
    return sum(ahead) / len(ahead) if ahead else across[node]


def _layers(count: int, edges: Sequence[tuple[int, int]], anchored: Iterable[int]) -> tuple[list[int], list[int]]:
    """Each node's layer, and how long the longest chain through it is, 0 for what does not follow from an anchor."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges)
    layer, height = [0] * count, [0] * count
    order = list(nx.topological_sort(graph))
    for node in order:
        layer[node] = max((layer[one] + 1 for one in graph.predecessors(node)), default=0)
    stream: set[int] = max((nx.descendants(graph, node) for node in anchored), key=len, default=set())
    for node in reversed(order):
        after = [*graph.successors(node)]
        height[node] = max((height[one] + 1 for one in after), default=0)
        if node not in stream and after:
            layer[node] = min(layer[one] for one in after) - 1
    return layer, [layer[node] + height[node] + 1 if node in stream else 0 for node in range(count)]


def _apart(wanted: Sequence[float], gaps: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The places nearest to those wanted, by weighted squares, that keep the order and these gaps."""
    offset, blocks = 0.0, []
    offsets = []
    for index, place in enumerate(wanted):
        offset += gaps[index - 1] if index else 0.0
        offsets.append(offset)
        blocks.append([place - offset, weights[index], 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, weight, many = blocks.pop()
            before, heavier, others = blocks[-1]
            together = weight + heavier
            blocks[-1] = [(mean * weight + before * heavier) / together, together, many + others]
    level = [mean for mean, _, many in blocks for _ in range(int(many))]
    return [mean + offset for mean, offset in zip(level, offsets)]
