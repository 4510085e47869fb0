"""A `torch.profiler` object in Python -> a profile."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_opcost.errors import InputError

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile

#: Functions of Python, recorded with `with_stack=True`, as torch before 2.12 names them without marking them.
_PYTHON = re.compile(r".*\.py\(\d+\): .*|<built-in .*>|nn\.Module: \w+_\d+|<string>\(\d+\): .*")


def from_profiler(profiler: Any) -> CostProfile:
    """What a step costs, of a `torch.profiler.profile` or `torch.autograd.profiler.profile` that has ended.

    Steps are those that the profiler's schedule marked with `step()`; without a schedule all that was recorded counts
    as one. The environment is that of now: ask while the settings of the step are in force. Times are microseconds of
    self time a step. Raises InputError where the profiler has recorded nothing, or is none of torch's.
    """
    from pytest_opcost.imports.aggregated import profile_of
    from pytest_opcost.measure.events import read_events

    recorded = getattr(profiler, "profiler", profiler)
    results = getattr(recorded, "kineto_results", None)
    if results is None:
        raise InputError(
            f"there is no profile in this {type(profiler).__name__}.\n"
            "Expected: a torch.profiler.profile whose with block or stop() is behind it, with an active step in its "
            "schedule.\nCall from_profiler(prof) after the with block."
        )
    device = getattr(recorded, "use_device", None)
    raw_events = [raw for raw in results.events() if not _is_python(raw)]
    events = read_events(raw_events, host_only=device is None)
    return profile_of(events, _environment(device or "cpu"), "this profile")


def _is_python(raw: Any) -> bool:
    marked = getattr(raw, "is_python_function", None)
    return bool(marked()) if marked is not None else _PYTHON.fullmatch(raw.name()) is not None


def _environment(device: str) -> Any:
    import torch

    from pytest_opcost.imports.known import UNKNOWN
    from pytest_opcost.measure.environment import capture_environment

    return capture_environment(torch.device(device), torch.get_num_threads(), UNKNOWN)
