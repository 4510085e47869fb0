"""What a device's name means, whether the device is there, how to wait for it, and what the profiler sees of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pytest_opcost.errors import DeviceError
from pytest_opcost.measure.compat import devices_in_use

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch


@dataclass(frozen=True, slots=True)
class Device:
    """A device that is there. `profiler` is the profiler's name for it, None where it tells host time only."""

    torch_device: torch.device
    profiler: str | None
    synchronize: Callable[[], None]


def find_device(name: str, option: str = "--opcost-device") -> Device:
    """The device called `name` (`cpu`, `cuda`, `cuda:1`, `mps`, `xpu`), which `option` asked for.

    Raises DeviceError, with the way to mend it, where torch does not see it.
    """
    import torch

    device = torch.device(name)
    if device.type == "cpu":
        return Device(device, None, _nothing)
    module = getattr(torch, device.type, None)
    if module is None or not module.is_available():
        raise DeviceError(_absent(name, device.type, option))
    count = module.device_count() if hasattr(module, "device_count") else 1
    if device.index is not None and device.index >= count:
        raise DeviceError(
            f"{option}={name}: torch {torch.__version__} sees {count} {device.type} device(s), {device.type}:0 to "
            f"{device.type}:{count - 1}.\nExpected: one of them.\nFor example: {option}={device.type}"
        )
    # MPS has no profiler activity of its own (pytorch#99037): its operators are told by host time alone.
    profiler = device.type if device.type in ("cuda", "xpu") else None
    return Device(device, profiler, module.synchronize if device.type == "mps" else partial(_synchronize, device))


def _synchronize(device: torch.device) -> None:
    """Wait for the device, which initialises it, and for every other one of its kind that the process uses."""
    import torch

    module = getattr(torch, device.type)
    module.synchronize(device)
    own = module.current_device() if device.index is None else device.index
    for index in devices_in_use(device.type):
        if index != own:
            module.synchronize(index)


def _absent(name: str, kind: str, option: str) -> str:
    import torch

    hints = {
        "cuda": f"torch {torch.__version__} was built "
        + (f"for CUDA {torch.version.cuda} but sees no GPU: check nvidia-smi, the driver and CUDA_VISIBLE_DEVICES"
           if torch.version.cuda else "without CUDA: install a CUDA build of torch"),
        "mps": "MPS needs macOS 12.3 or newer on Apple silicon",
        "xpu": "XPU needs an Intel GPU, its driver and a torch build for XPU",
    }  # fmt: skip
    return (
        f"{option}={name}: no such device is visible.\n"
        f"Found: {hints.get(kind, f'torch {torch.__version__} does not know {kind}')}.\n"
        f"Expected: a {kind} device that torch can use, since a run without one would compare nothing.\n"
        f"Without it: {option}=cpu"
    )


def _nothing() -> None:
    """A CPU's operators are done when they return."""
