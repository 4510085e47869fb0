"""Random numbers that are drawn in between, and given back."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def random_state_kept(device: torch.device) -> Iterator[None]:
    """After the body torch's global generators, the CPU's and the device's, go on as if it had drawn nothing.

    `torch.random.fork_rng` cannot do this for MPS, whose generator takes no device.
    """
    module: Any = None if device.type == "cpu" else getattr(torch, device.type)
    where = (device,) if device.type in ("cuda", "xpu") else ()
    host = torch.get_rng_state()
    own = None if module is None else module.get_rng_state(*where)
    try:
        yield
    finally:
        torch.set_rng_state(host)
        if module is not None:
            module.set_rng_state(own, *where)
