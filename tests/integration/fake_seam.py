"""A measuring seam without torch: what a step returns is what it costs.

A step returns a mapping: `ops` maps operators to microseconds, or to a list of microseconds, calls and the forward
phase's part; `facts` maps operators to fields of `OpFacts`, counts among them as mappings; `machine`, `capability`,
`torch`, `settings`, `load` and `pace_us` are optional; a list of paces is that of measurements one after the other. A
copy of this file works in a project of its own: see `install`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_opcost.costs import ColdStep, CostProfile, Environment, OpCost, with_shares
from pytest_opcost.facts import OpFacts, Place
from pytest_opcost.families import family_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_opcost.check_options import CheckOptions
    from pytest_opcost.options import Options
    from pytest_opcost.session import Check

#: A step of LeNet, in round figures: 10,000 us in all; conv/addmm is 4.
LENET: dict[str, Any] = {
    "aten::mkldnn_convolution": [4000.0, 2],
    "aten::max_pool2d_with_indices": 2000.0,
    "aten::gelu": [1500.0, 3],
    "aten::addmm": [1000.0, 2],
    "aten::_log_softmax": 1000.0,
    "aten::copy_": [400.0, 2],
    "aten::empty": [100.0, 4],
}


@dataclass
class FakeSeam:
    """Stands in for `seams.measure_step` and the other seams, and remembers how it was called."""

    calls: list[tuple[Options, CheckOptions, str]] = field(default_factory=list)
    memory: list[tuple[str, str | None]] = field(default_factory=list)
    absent: Exception | None = None
    paces: dict[str, list[float]] = field(default_factory=dict)

    def measure_step(self, step: Callable[[], Any], options: Options, check: CheckOptions, device: str) -> CostProfile:
        __tracebackhide__ = True
        self.calls.append((options, check, device))
        costs = step()
        return replace(_profile(costs, options, device), pace_us=self._pace(costs.get("pace_us", 0.0)))

    def _pace(self, pace: float | list[float]) -> float:
        if not isinstance(pace, list):
            return pace
        left = self.paces.setdefault(str(pace), [*pace])
        return left.pop(0) if len(left) > 1 else left[0]

    def fresh_profile(self, check: Check, step: Callable[[], Any]) -> CostProfile:
        """Another process, played by this one."""
        return check.profile(step)

    def recorded_rounds(self, check: Check, step: Callable[[], Any]) -> list[CostProfile]:
        return [check.profile(step) for _ in range(check.options.rounds)]

    def begin_memory(self, device: str, place: str | None) -> object:
        self.memory.append((device, place))
        return object()

    def find_environments(self, options: Options) -> list[Environment]:
        if self.absent is not None:
            raise self.absent
        return [_environment({}, options, device) for device in options.devices]


def install() -> None:
    """Replace the seam for good: for the conftest of a project that runs in processes of its own."""
    from pytest_opcost import seams

    seam = FakeSeam()
    seams.measure_step = seam.measure_step
    seams.find_environments = seam.find_environments
    seams.begin_memory = seam.begin_memory


def _environment(costs: dict[str, Any], options: Options, device: str) -> Environment:
    return Environment(
        device=device.partition(":")[0],
        device_name=costs.get("machine", os.environ.get("FAKE_CHIP", "Chip A")),
        capability=costs.get("capability", "x86_64 AVX512"),
        torch=costs.get("torch", "2.9.1+cpu"),
        threads=options.threads,
        allocator="quiet" if options.quiet else "system",
        settings=tuple(sorted({"mkldnn": "on", "threads": str(options.threads), **costs.get("settings", {})}.items())),
        details=(("os", "Testix 1.0"),),
    )


def _facts(fields: dict[str, Any]) -> OpFacts:
    counts = {
        name: tuple(sorted(value.items(), key=lambda pair: (-pair[1], pair[0])))
        for name, value in fields.items()
        if isinstance(value, dict)
    }
    varying = tuple(fields.get("varying", ()))
    places = tuple(Place(*place) for place in fields.get("places", ()))
    return OpFacts(**{**fields, **counts, "places": places, "varying": varying})


def _profile(costs: dict[str, Any], options: Options, device: str) -> CostProfile:
    on_device = device != "cpu"
    ops = []
    for name, cost in costs["ops"].items():
        us, calls, forward = [*cost, 1.0][:3] if isinstance(cost, list) else (cost, 1, 1.0)
        ops.append(
            OpCost(
                name=name,
                family=family_of(name),
                calls=calls,
                self_host_us=5.0 * calls if on_device else us,
                self_device_us=us if on_device else 0.0,
                share=0.0,
                forward=forward,
                facts=_facts(costs["facts"][name]) if options.exact and name in costs.get("facts", {}) else None,
            )
        )
    host, on_card = (sum(getattr(op, f"self_{clock}_us") for op in ops) for clock in ("host", "device"))
    return with_shares(
        CostProfile(
            environment=_environment(costs, options, device),
            steps=30,
            ops=tuple(ops),
            wall_us=1.1 * (host + on_card),
            total_host_us=host,
            total_device_us=on_card,
            load=costs.get("load", 0.0),
            cold=ColdStep(
                wall_us=5000.0, host_us=4800.0, device_us=0.0, ops=(("aten::mkldnn_convolution", 4000.0, 0.0),)
            ),
        )
    )
