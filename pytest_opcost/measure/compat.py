"""What differs between the versions of torch that are supported, 2.4 and newer, as far as measuring is concerned."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any


def profiler(device: str | None, *, inputs: bool, allocations: bool) -> Any:
    """torch's profiler, not yet started, which besides records input shapes or allocations.

    It is `torch.autograd.profiler.profile`, the part below `torch.profiler.profile` that hands out raw events.
    """
    from torch.autograd.profiler import profile

    made: Any = profile(
        use_kineto=True,
        use_device=device,
        record_shapes=inputs,
        profile_memory=allocations,
        # With every thread in it, a profile has no allocations (seen with torch 2.14).
        experimental_config=None if allocations else _every_thread(),
    )
    if not hasattr(made, "_needs_processing"):
        # Before torch 2.8 it makes an object of every event when it stops, 60 us each, of which nobody here asks one.
        made._parse_kineto_results = lambda _results: []
    return made


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


def autocast_type(device_type: str) -> str:
    """The element type that autocast now computes in, `bfloat16`; "off" where it is off or not to be had."""
    import torch

    try:
        enabled = torch.is_autocast_enabled(device_type)
    except RuntimeError:  # torch 2.4 knows no autocast on MPS
        return "off"
    return str(torch.get_autocast_dtype(device_type)).removeprefix("torch.") if enabled else "off"


def fp32_precisions(device_type: str) -> dict[str, str]:
    """What may stand in for float32 in products and convolutions, backend by backend; none before torch 2.9."""
    import torch

    backends: Any = torch.backends
    if not hasattr(backends.cudnn, "conv"):
        return {}
    of_type: dict[str, dict[str, Any]] = {
        "cpu": {"mkldnn_conv": backends.mkldnn.conv, "mkldnn_matmul": backends.mkldnn.matmul},
        "cuda": {
            "cudnn_conv": backends.cudnn.conv,
            "cudnn_rnn": backends.cudnn.rnn,
            "matmul": backends.cuda.matmul,
        },
    }
    precisions = {name: str(backend.fp32_precision) for name, backend in of_type.get(device_type, {}).items()}
    # Nothing was chosen, here or for all backends: float32 as IEEE has it, as after a choice that was taken back.
    return {f"{name}_fp32": "ieee" if value == "none" else value for name, value in precisions.items()}


def devices_in_use(device_type: str) -> list[int]:
    """Indices of the accelerators that this process has a context on; asking makes none."""
    import torch

    has_context = getattr(torch._C, f"_{device_type}_hasPrimaryContext", None)
    if has_context is None:
        return []
    return [index for index in range(getattr(torch, device_type).device_count()) if has_context(index)]


def forget_compiled() -> None:
    """Forget what `torch.compile` has made in this process, if it was ever used."""
    if (dynamo := sys.modules.get("torch._dynamo")) is not None:
        dynamo.reset()


def forget_workspaces(device_type: str) -> None:
    """Free the workspaces that the device's library of matrix products keeps in torch's allocator."""
    import torch

    if device_type == "cuda" and hasattr(torch._C, "_cuda_clearCublasWorkspaces"):
        torch._C._cuda_clearCublasWorkspaces()
