"""Records of what was measured as plain data, which JSON can hold, and back."""

from __future__ import annotations

from dataclasses import asdict, astuple
from typing import TYPE_CHECKING, Any

from pytest_opcost.costs import ColdStep, CostProfile, Environment, OpCost
from pytest_opcost.facts import OpFacts, Place
from pytest_opcost.flow import DataFlow, FlowNode
from pytest_opcost.timeline import Span
from pytest_opcost.training import Training

if TYPE_CHECKING:
    from collections.abc import Mapping


def profile_data(profile: CostProfile) -> dict[str, Any]:
    """A profile in plain data, which `profile_from` reads back."""
    return {
        "steps": profile.steps,
        "step_us": profile.wall_us,
        "total_host_us": profile.total_host_us,
        "total_device_us": profile.total_device_us,
        "load": profile.load,
        "pace_us": profile.pace_us,
        "negative_clamped": profile.negative_clamped,
        "flops": profile.flops,
        "remarks": list(profile.remarks),
        "kernel_names": dict(profile.kernel_names),
        "autograd_nodes": profile.autograd_nodes,
        "cold": asdict(profile.cold) if profile.cold else None,
        "ops": [asdict(op) for op in profile.ops],
        "flow": asdict(profile.flow) if profile.flow else None,
        "timeline": [astuple(span) for span in profile.timeline],
        "environment": asdict(profile.environment),
    }


def profile_from(data: Mapping[str, Any]) -> CostProfile:
    """The inverse of `profile_data`; other keys are left alone."""
    return CostProfile(
        environment=environment_from(data["environment"]),
        steps=data["steps"],
        ops=tuple(_op(op) for op in data["ops"]),
        wall_us=data["step_us"],
        total_host_us=data["total_host_us"],
        total_device_us=data["total_device_us"],
        load=data["load"],
        pace_us=data["pace_us"],
        cold=_cold(data["cold"]) if data["cold"] else None,
        remarks=tuple(data["remarks"]),
        negative_clamped=data["negative_clamped"],
        autograd_nodes=data["autograd_nodes"],
        kernel_names=tuple((short, full) for short, full in data["kernel_names"].items()),
        flow=_flow(data["flow"]) if data["flow"] else None,
        timeline=tuple(Span(*span) for span in data["timeline"]),
    )


def training_data(training: Training) -> dict[str, Any]:
    """A training in plain data, which `training_from` reads back."""
    return asdict(training) | {"costs": [[when, profile_data(profile)] for when, profile in training.costs]}


def training_from(data: Mapping[str, Any]) -> Training:
    """The inverse of `training_data`."""
    curves = ("steps", "losses", "accuracies", "test_losses", "test_accuracies", "epoch_seconds")
    return Training(
        **{
            **data,
            **{name: tuple(data[name]) for name in curves},
            "hyperparameters": _pairs(data["hyperparameters"]),
            "environment": environment_from(data["environment"]),
            "costs": tuple((when, profile_from(profile)) for when, profile in data["costs"]),
        }
    )


def environment_document(environment: Environment) -> dict[str, Any]:
    """An environment as documents for programs tell it: with its machine key, settings and details by name."""
    return {
        "machine": environment.machine_key,
        "device": environment.device,
        "device_name": environment.device_name,
        "capability": environment.capability,
        "torch": environment.torch,
        "threads": environment.threads,
        "allocator": environment.allocator,
        "settings": dict(environment.settings),
        "details": dict(environment.details),
    }


def environment_from(data: Mapping[str, Any]) -> Environment:
    """The inverse of `asdict`, whether pairs became lists or not."""
    return Environment(**{**data, "settings": _pairs(data["settings"]), "details": _pairs(data["details"])})


def _pairs(data: Any) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in data)


def _op(data: Mapping[str, Any]) -> OpCost:
    return OpCost(**{**data, "samples": tuple(data["samples"]), "facts": _facts(data["facts"])})


def _cold(data: Mapping[str, Any]) -> ColdStep:
    return ColdStep(**{**data, "ops": tuple((name, host, device) for name, host, device in data["ops"])})


def _facts(data: Mapping[str, Any] | None) -> OpFacts | None:
    if data is None:
        return None
    counts = {name: tuple((one, count) for one, count in data[name]) for name in ("inputs", "kernels")}
    places = tuple(Place(**place) for place in data["places"])
    return OpFacts(**{**data, **counts, "places": places, "varying": tuple(data["varying"])})


def _flow(data: Mapping[str, Any]) -> DataFlow:
    nodes = tuple(FlowNode(**{**node, "place": Place(**node["place"])}) for node in data["nodes"])
    return DataFlow(nodes, tuple((source, target) for source, target in data["edges"]))
