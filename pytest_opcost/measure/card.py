"""The state of an NVIDIA card at one moment, by NVML: what makes its figures differ from those of a quiet, cool one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

#: NVML's reasons for a clock below the highest, as far as they tell of trouble (nvml.h, nvmlClocksEventReasons).
_THROTTLED = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "temperature",
    0x40: "temperature, hardware",
    0x80: "power brake",
}


def card_in_words(device: torch.device) -> tuple[str, ...]:
    """What is worth knowing of a CUDA device now: that it is throttled, or that others use it; nothing without NVML."""
    state = card_state(device)
    if state is None:
        return ()
    words = []
    if reasons := [word for bit, word in _THROTTLED.items() if state["reasons"] & bit]:
        words.append(f"the card is throttled ({', '.join(reasons)}): {state['sm_mhz']} MHz, {state['celsius']} C")
    if state["processes"] > 1:
        words.append(f"the card is shared: {state['processes']} processes compute on it")
    return tuple(words)


def card_state(device: torch.device) -> dict[str, int] | None:
    """Clock in MHz, temperature in C, NVML's throttling bits, computing processes; None where NVML does not tell."""
    if device.type != "cuda":
        return None
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        try:
            return _state(pynvml, device)
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError:
        # A container without the driver's library, or a card that does not say: then nothing is known.
        return None


def _state(nvml: Any, device: torch.device) -> dict[str, int]:
    import torch

    handle = nvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(device).uuid}".encode())
    return {
        "sm_mhz": int(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
        "celsius": int(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
        "reasons": int(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
        "processes": len(nvml.nvmlDeviceGetComputeRunningProcesses(handle)),
    }
