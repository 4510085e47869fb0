"""What an entry of the catalogue is, and the steps that most of them are made of."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import torch

from pytest_opcost.workloads.models import SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor, nn

Step: TypeAlias = "Callable[[], object]"
Build: TypeAlias = "Callable[[torch.device], Step]"
Settings: TypeAlias = "Callable[[], AbstractContextManager[object]]"

BOTH, CPU, CUDA = ("cpu", "cuda"), ("cpu",), ("cuda",)


@dataclass(frozen=True)
class Case:
    """One change: the workload before and after it, and what a good judge says.

    `kinds` are the kinds of cause any of which is right, `ops` the operators (or settings) any of which is right to be
    named first: the end of a name is enough. A harmless change has neither. `devices` are those on which the change
    exists at all. The settings are in force around all measurements of their side.
    """

    name: str
    sentence: str
    before: Build
    after: Build
    kinds: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    devices: tuple[str, ...] = BOTH
    settings_before: Settings = nullcontext
    settings_after: Settings = nullcontext

    def names(self, op: str) -> bool:
        """Whether this operator is right to be named."""
        return any(op.endswith(right) for right in self.ops)


def seeded(make: Callable[[], nn.Module], device: torch.device) -> nn.Module:
    """A new module with the same weights every time."""
    torch.manual_seed(SEED)
    return make().to(device)


def random(device: torch.device, *shape: int) -> Tensor:
    """The same normal numbers every time."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(SEED)).to(device)


def classes(device: torch.device, batch: int, count: int = 10) -> Tensor:
    """A class for each sample."""
    return (torch.arange(batch) % count).to(device)


def inference(model: nn.Module, *inputs: Tensor) -> Step:
    """A step that runs the model forward, in evaluation mode and without gradients."""
    model.eval()

    def step() -> None:
        with torch.no_grad():
            model(*inputs)

    return step


def training(
    model: nn.Module,
    inputs: Tensor,
    loss: Callable[[Tensor], Tensor],
    *,
    optimizer: torch.optim.Optimizer | None = None,
    zero: dict[str, bool] | None = None,
    watch: Callable[[Tensor], object] = lambda _loss: None,
) -> Step:
    """A step that trains the model with plain SGD unless told otherwise; `watch` sees the loss at the end of it."""
    model.train()
    chosen = optimizer or torch.optim.SGD(model.parameters(), lr=1e-3)

    def step() -> None:
        chosen.zero_grad(**(zero or {}))
        value = loss(model(inputs))
        value.backward()
        chosen.step()
        watch(value)

    return step
