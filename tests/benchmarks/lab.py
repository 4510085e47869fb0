"""What the benchmarks measure: steps of the Lab's two networks on random images, and a profiled run of such a step."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import torch

from pytest_opcost.garbage import no_garbage_collection
from pytest_opcost.measure import Plan, fresh_memory, measure
from pytest_opcost.measure.aggregate import StepCosts, aggregate
from pytest_opcost.measure.devices import find_device
from pytest_opcost.measure.events import recorded, step_mark
from pytest_opcost.merging import REPETITIONS, averaged
from pytest_opcost.workloads.models import LeNet, LeNet5, build
from pytest_opcost.workloads.steps import inference_step, training_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_opcost.costs import CostProfile

NETWORKS = {"LeNet": (LeNet, (1, 28, 28)), "LeNet-5": (LeNet5, (3, 32, 32))}
#: The Lab's twelve steps: network, kind and batch size.
WORKLOADS = [(network, kind, batch) for network in NETWORKS for kind in ("train", "infer") for batch in (1, 16, 64)]
WARMUP = 5


def lab_step(network: str, kind: str, batch: int, device: str) -> Callable[[], None]:
    """A step of `kind` "train" or "infer", its model and its images new and on the device.

    The images are the same in every process: a pooling operator's branches, and so its time, depend on them.
    """
    model_class, shape = NETWORKS[network]
    torch.manual_seed(0)
    model, images = build(model_class, device), torch.randn(batch, *shape, device=device)
    if kind == "infer":
        return inference_step(model, images)
    return training_step(model, images, torch.arange(batch, device=device) % 10)


def held(device: str) -> object:
    """Something on the device, to be kept while other processes measure there, as the plugin's own run does: where no
    process has it, the driver begins anew with each one, and the next one's memory lies elsewhere.
    """
    return torch.ones(1, device=device)


def repeated(
    name: str, new_step: Callable[[], Callable[[], object]], plan: Plan, seed: int = 0, count: int = REPETITIONS
) -> CostProfile:
    """What one side of a pair finds of a step, `name`: measured so many times, each of a new model at another place in
    memory, the same on both sides where they have the same seed.
    """
    found = []
    for number in range(count):
        if plan.partner is not None:
            plan.partner.at(name, number)
        _kept = fresh_memory(plan.device, f"{seed} {number} {name}")
        found.append(measure(new_step(), plan.repeated(number)))
    return averaged(found)


def profiled(step: Callable[[], object], device_name: str, steps: int) -> tuple[StepCosts, slice]:
    """The costs of a cold step, of `WARMUP` more and of `steps`; and which of them are these last ones.

    As the plugin measures, but for the exact passes.
    """
    device = find_device(device_name)
    gc.collect()
    with no_garbage_collection():
        device.synchronize()
        with recorded(device.profiler) as events:
            for _ in range(1 + WARMUP + steps):
                with step_mark():
                    step()
                    device.synchronize()
    return aggregate(events[0]), slice(1 + WARMUP, None)


def load_line() -> str:
    """How busy the machine is, this process included: figures of a busy one mean little."""
    minute, five_minutes, _ = os.getloadavg()
    return f"load average {minute:.1f} (1 min), {five_minutes:.1f} (5 min) on {os.cpu_count()} cores"
