"""Operators as torch called them before 1.7, without a namespace: `addmm` is `aten::addmm` since."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.families import FAMILIES, family_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_opcost.costs import OpCost

_BARE = re.compile(r"[a-z_][a-z0-9_]*")
#: Families of what is no operator of ATen's, however it is called.
_OTHER = frozenset({"autograd", "runtime", "wait", "comm", "compiled", "fused"})


RENAMED = "its torch is older than 1.7, whose operators have no namespace: they are written as today, with aten::"


def with_namespace(ops: Iterable[OpCost]) -> tuple[tuple[OpCost, ...], bool]:
    """The same operators, with `aten::` before the names of ATen's where torch is so old that none has a namespace;
    and whether that is so.
    """
    ops = tuple(ops)
    if any("::" in op.name and family_of(op.name) not in _OTHER for op in ops):
        return ops, False
    renamed = tuple(replace(op, name=f"aten::{op.name}") if _is_aten(op.name) else op for op in ops)
    return renamed, renamed != ops


def _is_aten(name: str) -> bool:
    return bool(_BARE.fullmatch(name)) and family_of(name) in FAMILIES and family_of(name) not in _OTHER
