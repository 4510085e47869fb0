"""What was measured on, with what, and under which settings."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.costs import Environment
from pytest_opcost.measure.allocator import quiet_allocator
from pytest_opcost.measure.compat import autocast_type, fp32_precisions
from pytest_opcost.measure.devices import find_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import torch


def capture_environment(device: torch.device, threads: int, allocator: str) -> Environment:
    """The environment as it is at this moment: ask while the user's settings are in force.

    `threads` is what was asked for; what torch really has, should the step have changed it, is one of the settings.
    """
    import torch

    name, capability = _cpu() if device.type == "cpu" else _accelerator(device)
    details = {
        "python": platform.python_version(),
        "os": f"{platform.system()} {platform.release()}",
        **_distribution(),
        "cpus": str(os.cpu_count() or 1),
        "cpu": _cpu()[0],
    }
    if device.type == "cuda":
        details["cuda"] = str(torch.version.cuda or torch.version.hip)
        details["cudnn"] = str(torch.backends.cudnn.version())  # type: ignore[no-untyped-call]
        details["card"] = _card(device)
        details["gpus"] = str(torch.cuda.device_count())
    return Environment(
        device=device.type,
        device_name=name,
        capability=capability,
        torch=str(torch.__version__),
        threads=threads,
        allocator=allocator,
        settings=tuple(sorted(_settings(device).items())),
        details=tuple(sorted(details.items())),
    )


def _distribution() -> dict[str, str]:
    """The name of a Linux distribution with its version; nothing where there is none to be told."""
    try:
        return {"distribution": platform.freedesktop_os_release()["PRETTY_NAME"]}
    except (OSError, KeyError):
        return {}


def _settings(device: torch.device) -> dict[str, str]:
    """All switches of torch that decide which kernels run, in words."""
    import torch

    settings: dict[str, object] = {
        "autocast": autocast_type(device.type),
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "float32_matmul_precision": _legacy(torch.get_float32_matmul_precision),
        "threads": torch.get_num_threads(),
    }
    if device.type == "cpu":
        settings["mkldnn"] = torch.backends.mkldnn.enabled
    if device.type == "cuda":
        cudnn = torch.backends.cudnn
        settings |= {
            "cudnn": cudnn.enabled,
            "cudnn_benchmark": cudnn.benchmark,
            "cudnn_deterministic": cudnn.deterministic,
            "cudnn_tf32": _legacy(lambda: cudnn.allow_tf32),
            "matmul_tf32": _legacy(lambda: torch.backends.cuda.matmul.allow_tf32),
        }
    # On a CPU nothing older says the same; elsewhere only what the older switches cannot.
    if device.type == "cpu" or _BY_BACKEND in settings.values():
        settings |= fp32_precisions(device.type)
    return {name: _word(value) for name, value in settings.items()}


_BY_BACKEND = "set by backend"


def _legacy(read: Callable[[], object]) -> object:
    """A setting that torch refuses to read once its newer form, `fp32_precision`, was set to what it cannot express."""
    try:
        return read()
    except RuntimeError:
        return _BY_BACKEND


def _word(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


#: Instructions beyond AVX2 and AVX-512 for which oneDNN has implementations of their own, as Linux calls them.
_EXTENSIONS = ("avx_vnni", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_fp16")


@cache
def _cpu() -> tuple[str, str]:
    """The CPU's model, with the numbers that tell models apart where a hypervisor hides the name, and its ISA."""
    import torch

    machine = platform.machine()
    isa = torch.backends.cpu.get_cpu_capability()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n", 1)[0].splitlines()
    except OSError:
        return f"{platform.processor() or machine}", f"{machine} {isa}"
    info = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    # oneDNN picks its implementations by these, which torch's own name for the instruction set leaves out.
    flags = set(info.get("flags", "").split())
    isa = " ".join([isa, *(name for name in _EXTENSIONS if name in flags)])
    model = re.sub(r"\((R|TM|r|tm)\)|\bCPU\b|@.*", " ", info.get("model name", info.get("CPU part", machine)))
    numbers = [f"{key.removeprefix('cpu ')} {info[key]}" for key in ("cpu family", "model") if key in info]
    return " ".join([*model.split(), *numbers]), f"{machine} {isa}"


def _accelerator(device: torch.device) -> tuple[str, str]:
    import torch

    if device.type == "mps":
        return f"Apple {platform.processor()}", platform.machine()
    module = getattr(torch, device.type)
    name = str(module.get_device_name(device))
    capability = module.get_device_capability(device)
    return name, ".".join(map(str, capability)) if isinstance(capability, tuple) else platform.machine()


def _card(device: torch.device) -> str:
    """A short hash of the card's UUID: two cards of one model differ by up to a few per cent in small kernels."""
    import torch

    uuid = str(getattr(torch.cuda.get_device_properties(device), "uuid", "unknown"))
    return hashlib.sha256(uuid.encode()).hexdigest()[:8] if uuid != "unknown" else uuid


def environments_of(
    devices: Iterable[str], threads: int, *, quiet: bool, option: str = "--opcost-device"
) -> list[Environment]:
    """The environment of each named device before anything is measured; raises DeviceError for one not there."""
    allocator = "quiet" if quiet and quiet_allocator() else "system"
    return [capture_environment(find_device(name, option).torch_device, threads, allocator) for name in devices]
