"""One measurement of one step, from the cold first call to the profile."""

from __future__ import annotations

import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_opcost.costs import CostProfile, totals, with_shares
from pytest_opcost.errors import DeviceError, MeasureError
from pytest_opcost.garbage import no_garbage_collection
from pytest_opcost.measure.aggregate import StepCosts, aggregate
from pytest_opcost.measure.allocator import quiet_allocator, shifted_heap
from pytest_opcost.measure.calling import call
from pytest_opcost.measure.card import card_in_words
from pytest_opcost.measure.device_memory import has_room, shifted_memory
from pytest_opcost.measure.devices import Device, find_device
from pytest_opcost.measure.environment import capture_environment
from pytest_opcost.measure.events import recorded, step_mark
from pytest_opcost.measure.exact import exact_facts
from pytest_opcost.measure.exact.kernels import full_names
from pytest_opcost.measure.flow_costs import with_flow
from pytest_opcost.measure.load import watch_load
from pytest_opcost.measure.pace import Pace
from pytest_opcost.measure.remarks import remarks_on
from pytest_opcost.measure.rows import call_costs, cold_step, op_rows, step_wall_us
from pytest_opcost.measure.subscribers import other_subscribers
from pytest_opcost.measure.threads import limited_threads
from pytest_opcost.measure.timeline import last_step
from pytest_opcost.partner import Alternation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from pytest_opcost.partner import Partner

#: Some neighbour's burst covers 30 short steps from end to end; steps that fill this time see past it.
LEAST_STEPS, MOST_STEPS, LEAST_SECONDS = 30, 300, 0.3
#: A step that is measured several times takes a part of that each time, and needs less to warm up after the first time.
REPEATED, WARM_AGAIN = 3, 2
#: A device has no neighbour, but a kernel of 2 us varies by 1 to 4 % from step to step. Of 140 operators in six
#: processes 89 differed by 0.5 % or less after 30 steps, 103 after 40 of training and 100 of inference, 114 after 78
#: and 300 (measured, H200); torch takes 5 us to hand out an event there, so that more would cost more than it is worth.
MOST_STEPS_ON_DEVICE, LEAST_SECONDS_ON_DEVICE = 100, 0.15


@dataclass(frozen=True, slots=True)
class Plan:
    """How to measure: the device's name, warm-up and measured steps, threads, and whether the allocator is quietened.

    `steps` None takes 30, and more of short steps until they fill 0.3 seconds, at most 300; 0.15 seconds and at most
    100 on the device's clock. Without `exact` only times are taken, for rounds of a step whose exact facts are known.
    `timeline` keeps the events of the last step. `patience` is how many seconds steps may wait, in all, for a core that
    no other guest of the machine shares, on the host's clock. With a `partner`, another process that measures the same
    step, both measure in turns. A `part` of n takes an n-th of the steps that `steps` None would take.
    """

    device: str
    warmup: int = 5
    steps: int | None = None
    threads: int = 1
    quiet: bool = True
    exact: bool = True
    timeline: bool = False
    patience: float = 1.0
    partner: Partner | None = None
    part: int = 1

    def repeated(self, number: int) -> Plan:
        """The plan of one of several measurements of the same step: a third as long."""
        return replace(self, part=REPEATED, warmup=min(self.warmup, WARM_AGAIN) if number else self.warmup)


def measure(step: Callable[[], object], plan: Plan) -> CostProfile:
    """Run `step` under the profiler, once cold, `plan.warmup` times warming up, then measured; what one step costs.

    The cost of an operator is a statistic over the measured steps, see `rows`; exact facts come from further steps.

    Raises MeasureError where the step raises, where it runs no operator, or where another profiler is at work;
    DeviceError where the device is missing or the profiler sees none of its kernels.
    """
    __tracebackhide__ = True
    device = find_device(plan.device)
    allocator = "quiet" if plan.quiet and quiet_allocator() else "system"
    # The collector would stop some steps and not others.
    with limited_threads(plan.threads), no_garbage_collection():
        device.synchronize()
        pace, on_host = Pace(plan.patience), device.profiler is None
        elsewhere = _places(device, heap=allocator == "quiet", memory=plan.quiet)
        with recorded(device.profiler) as events:
            with nullcontext(Alternation()) if plan.partner is None else plan.partner.met() as turns:
                load = watch_load()
                for number in _schedule(plan, pace if on_host else None, turns):
                    with elsewhere(number), step_mark():
                        call(step)
                        device.synchronize()
                busy_elsewhere = load(turns.their_seconds)
            environment = capture_environment(device.torch_device, plan.threads, allocator)
            card = card_in_words(device.torch_device)
        autotuned = dict(environment.settings).get("cudnn_benchmark") == "on"
        exact = exact_facts(step, device, autotuned=autotuned) if plan.exact else None
    costs = aggregate(events[0])
    warm = slice(1 + plan.warmup, None)
    if not costs.calls[warm].any():
        raise MeasureError(
            "the step ran no operator, so there is nothing to compare.\n"
            "Expected: a callable that runs the model, such as `lambda: model(images)`.\n"
            "Check that the step is the function itself and that it does its work in this process."
        )
    _require_kernels(device, costs, warm)
    ops = op_rows(costs, warm, exact.ops if exact else None)
    host_us, device_us = totals(ops)
    profile = with_shares(
        CostProfile(
            environment=environment,
            steps=len(costs.calls[warm]),
            ops=ops,
            wall_us=step_wall_us(costs, warm),
            total_host_us=host_us,
            total_device_us=device_us,
            load=busy_elsewhere,
            pace_us=pace.us,
            cold=cold_step(costs),
            negative_clamped=costs.negative_clamped,
            kernel_names=tuple(sorted((full_names(costs.kernels) | (exact.kernel_names if exact else {})).items())),
            autograd_nodes=exact.autograd_nodes if exact else None,
            remarks=(*remarks_on(device, costs, warm), *card),
            timeline=last_step(events[0], costs) if plan.timeline else (),
        )
    )
    if exact is None or exact.flow is None:
        return profile
    return with_flow(profile, exact.flow, call_costs(costs, warm, profile.clock))


def _places(device: Device, *, heap: bool, memory: bool) -> Callable[[int], AbstractContextManager[None]]:
    """What has the step of a number find its temporaries at a place of that number's own: on the host's `heap`, and in
    the device's `memory`, if the device's time is looked at and it has room to spare.
    """
    shifted = memory and device.profiler is not None and has_room(device.torch_device)

    @contextmanager
    def elsewhere(number: int) -> Iterator[None]:
        on_host = shifted_heap(number) if heap else nullcontext()
        with on_host, shifted_memory(device.torch_device, number) if shifted else nullcontext():
            yield

    return elsewhere


def _schedule(plan: Plan, pace: Pace | None, turns: Alternation) -> Iterator[int]:
    """The number of each step to run: the cold one, the warm-up, then as many as the plan asks for, where there is a
    `pace`, on the host's clock, each once it is our turn and the core is our own.
    """
    before = 1 + plan.warmup
    yield from range(before)
    least = LEAST_STEPS if plan.steps is None else plan.steps
    most, seconds = (MOST_STEPS, LEAST_SECONDS) if pace else (MOST_STEPS_ON_DEVICE, LEAST_SECONDS_ON_DEVICE)
    if plan.steps is None:
        least, most, seconds = least // plan.part, most // plan.part, seconds / plan.part
    start = time.perf_counter()
    for count in range(most if plan.steps is None else least):
        if count >= least and time.perf_counter() - start - turns.waited - (pace.waited if pace else 0) >= seconds:
            return
        if pace:
            turns.next_step()
            pace.settle()
        yield before + count


def _require_kernels(device: Device, costs: StepCosts, warm: slice) -> None:
    """A profile without a kernel on a device that has them is a broken profiler, never a cost of zero."""
    if device.profiler is None or costs.device_ns[warm].any():
        return
    found = f"{costs.outside} device events, none of which belongs to a measured step"
    raise DeviceError(
        f"the profiler saw no kernel on {device.torch_device}.\nFound: {found}.\n"
        "Expected: at least one kernel. The usual causes, in this order:\n"
        "  - the step does not run on the device: move the model and its input there\n"
        "  - CUPTI may not be used: let users profile (NVreg_RestrictProfilingToAdminUsers=0) or run as root\n"
        "  - CUPTI is missing: install nvidia-cuda-cupti of torch's own CUDA version\n"
        "  - another tool holds CUPTI (nsys, ncu, DCGM): stop it" + "".join(f"; {tool}" for tool in other_subscribers())
    )
