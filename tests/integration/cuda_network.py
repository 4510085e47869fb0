"""A small network on a GPU, and what holds for the cost of any step there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from pytest_opcost.measure import Plan

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile, OpCost

PLAN = Plan("cuda", warmup=3, steps=10)
IMAGES, CHANNELS, SIDE, MAPS = 8, 16, 32, 32
CONV_FLOPS = 2 * IMAGES * MAPS * (SIDE - 2) ** 2 * CHANNELS * 9
FEATURES = MAPS * (SIDE - 2) ** 2
ADDMM_FLOPS = 2 * IMAGES * FEATURES * 10


def network() -> nn.Sequential:
    layers = nn.Sequential(nn.Conv2d(CHANNELS, MAPS, 3), nn.ReLU(), nn.Flatten(), nn.Linear(FEATURES, 10))
    return layers.cuda()


def images() -> torch.Tensor:
    return torch.randn(IMAGES, CHANNELS, SIDE, SIDE, device="cuda")


def kernels(op: OpCost) -> int:
    """How many kernels and transfers the operator launched in a step."""
    assert op.facts is not None
    return sum(count for _, count in op.facts.kernels)


def sound(cost: CostProfile, *, overlap: float = 1.05) -> None:
    """What holds for any step; kernels that run at the same time may add up to `overlap` times the wall's time."""
    doubts = ("lost records", "negative", "host time only", "dearer")
    assert not [remark for remark in cost.remarks if any(doubt in remark for doubt in doubts)]
    assert cost.clock == "device"
    assert 0 < cost.total_device_us < overlap * cost.wall_us
    assert sum(op.share for op in cost.ops) == pytest.approx(1)
    assert not [op.name for op in cost.ops if re.search(r"CompiledFxGraph \w{8,}|: \d+/\d+", op.name)]
