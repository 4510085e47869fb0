"""What differs between the versions of torch that are supported, 2.4 and newer, as far as measuring is concerned."""

from __future__ import annotations

from functools import cache
from typing import Any


def profiler(device: str | None, *, inputs: bool, allocations: bool) -> Any:
    """torch's profiler, not yet started, which besides records input shapes or allocations.

    It is `torch.autograd.profiler.profile`, the part below `torch.profiler.profile` that hands out raw events.
    """
    from torch.autograd.profiler import profile

    return profile(
        use_kineto=True,
        use_device=device,
        record_shapes=inputs,
        profile_memory=allocations,
        # With every thread in it, a profile has no allocations (seen with torch 2.14).
        experimental_config=None if allocations else _every_thread(),
    )


@cache
def _every_thread() -> Any:
    """The setting that also records threads which the step starts itself; None where torch has none (before 2.5)."""
    from torch._C._profiler import _ExperimentalConfig

    try:
        return _ExperimentalConfig(profile_all_threads=True)
    except TypeError:
        return None


def input_shapes(raw: Any) -> list[Any]:
    """The shapes of a raw event's inputs: a list of sizes, for a list of tensors a list of such, empty for others.

    Older versions, 2.11 among them, tell nothing of lists of tensors.
    """
    shapes: list[Any] = raw.structured_input_shapes() if hasattr(raw, "structured_input_shapes") else raw.shapes()
    return shapes


def next_sequence_number() -> int:
    """The number that the next autograd node created in this thread will get."""
    from torch._C._autograd import _get_sequence_nr

    return int(_get_sequence_nr())


def current_backward_node() -> tuple[str, int] | None:
    """Name and sequence number of the autograd node that is running its backward in this thread, or None."""
    from torch._C import _current_autograd_node

    node = _current_autograd_node()
    return None if node is None else (node.name(), node._sequence_nr())
