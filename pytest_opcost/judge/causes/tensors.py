"""Input tensors read back from words, and calls before and after that belong together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pytest_opcost.judge.causes.delta import Delta

_TENSOR = re.compile(r"(\w+)\[([\d,]*)\]")
HALVES = {"bf16": "bfloat16", "f16": "float16"}


class Tensor(NamedTuple):
    """An input: its element type (`f32`) and its sizes."""

    type: str
    shape: tuple[int, ...]


def tensors(call: str) -> tuple[Tensor, ...]:
    """The tensors of one call's inputs; lists of tensors, whose types are not known, are left out."""
    return tuple(
        Tensor(kind, tuple(int(size) for size in sizes.split(",") if size))
        for kind, sizes in _TENSOR.findall(re.sub(r"\([^()]*\)", "", call))
    )


def types(calls: tuple[tuple[str, int], ...]) -> set[str]:
    """The element types of all tensors in these calls; those of single numbers do not count."""
    return {tensor.type for call, _ in calls for tensor in tensors(call) if tensor.shape}


def pairs(delta: Delta) -> list[tuple[tuple[Tensor, ...], tuple[Tensor, ...]]]:
    """What an operator took and takes instead, call by call: those that are most alike belong together."""
    if not delta.known("inputs"):
        return []
    before = [tensors(call) for call, _ in delta.went("inputs")]
    after = [tensors(call) for call, _ in delta.came("inputs")]
    found = []
    candidates = sorted(
        ((_likeness(one, two), i, j) for i, one in enumerate(before) for j, two in enumerate(after)),
        key=lambda candidate: (-candidate[0], *candidate[1:]),
    )
    used: tuple[set[int], set[int]] = (set(), set())
    for likeness, i, j in candidates:
        if likeness >= 0 and i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            found.append((before[i], after[j]))
    return found


def _likeness(one: tuple[Tensor, ...], two: tuple[Tensor, ...]) -> int:
    """How many sizes are equal; -1 where the tensors' ranks are not."""
    if [len(tensor.shape) for tensor in one] != [len(tensor.shape) for tensor in two]:
        return -1
    return sum(a == b for first, second in zip(one, two) for a, b in zip(first.shape, second.shape))
