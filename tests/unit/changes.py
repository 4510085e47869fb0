"""Operators with facts in a line each, and the causes of a change between two lists of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from records import CPU, op, profile

from pytest_opcost.facts import OpFacts, Place, counted
from pytest_opcost.judge.causes import Cause, causes
from pytest_opcost.judge.exact import exact_findings

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile, OpCost


def ran(
    name: str,
    calls: int = 1,
    inputs: str = "",
    *,
    us: float = 10.0,
    kernels: str = "",
    at: str = "forward net",
    **facts: int,
) -> OpCost:
    """An operator of ATen; `inputs` and `kernels` are separated by `; `, places (`phase module line`) too."""
    places = tuple(Place(*place.split(" ")) for place in at.split("; ") if place)
    told = OpFacts(
        inputs=counted(filter(None, inputs.split("; "))), kernels=counted(filter(None, kernels.split("; "))),
        places=places, **facts,
    )  # fmt: skip
    return op(name if ":" in name or "Backward" in name else f"aten::{name}", us, calls=calls, facts=told)


def step(*ops: OpCost, nodes: int | None = None, **settings: str) -> CostProfile:
    """A step of these operators and an addition, which never changes, under these settings."""
    environment = replace(CPU, settings=tuple(settings.items()))
    rest = ran("add", 1, "f32[4,4] f32[4,4]", us=1.0, at="forward net model.py:99")
    return replace(profile(*ops, rest, environment=environment), autograd_nodes=nodes)


def told(old: CostProfile, new: CostProfile) -> tuple[Cause, ...]:
    """The causes of a change; every finding that fails must have one."""
    findings = exact_findings(old, new)
    found = causes(old, new, findings)
    explained = {name for cause in found for name in cause.explains}
    assert {finding.op for finding in findings if finding.fails} <= explained
    return found


def only(old: CostProfile, new: CostProfile) -> Cause:
    """The one cause of a change."""
    (cause,) = told(old, new)
    return cause
