"""A trace's file -> its profile, with what its head tells of the machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_opcost.imports.aggregated import profile_of
from pytest_opcost.imports.known import environment_of
from pytest_opcost.imports.traced.json_stream import TraceFile
from pytest_opcost.imports.traced.reading import read_events

if TYPE_CHECKING:
    from io import BufferedIOBase

    from pytest_opcost.costs import CostProfile, Environment
    from pytest_opcost.imports.known import Known
    from pytest_opcost.measure.events import Events


def profile_from_trace(file: BufferedIOBase, path: str, known: Known) -> CostProfile:
    """The profile of a Chrome trace; raises InputError where it is damaged, no trace, or has no operator."""
    trace = TraceFile(file, path)
    events, negative = read_events(trace)
    profile = profile_of(events, _environment(trace.head, events, known), path, known.steps, means=known.means)
    if negative:
        told = f"{negative} events of the trace end before they begin, and count as nothing"
        profile = replace(profile, remarks=(*profile.remarks, told))
    return profile


def _environment(head: dict[str, Any], events: Events, known: Known) -> Environment:
    from pytest_opcost.measure.events import Kind

    listed = head.get("deviceProperties")
    first = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else {}
    worked = bool((events.kind == Kind.DEVICE).any())
    details = {"cuda": _version(head.get("cuda_runtime_version"))} if worked else {}
    if not worked:
        return environment_of(known, "cpu")
    major, minor = first.get("computeMajor"), first.get("computeMinor")
    return environment_of(
        known,
        "xpu" if any(name.startswith(("zeCommand", "urEnqueue")) for name in events.names) else "cuda",
        name=str(first.get("name", "")),
        capability=f"{major}.{minor}" if major is not None and minor is not None else "",
        **{key: value for key, value in details.items() if value},
    )


def _version(number: Any) -> str:
    """CUDA's version of its number: 12040 is 12.4."""
    return f"{number // 1000}.{number % 1000 // 10}" if type(number) is int and number >= 1000 else ""
