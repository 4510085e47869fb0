"""What the file that --opcost-json writes holds, field by field: the contract between its writer and all who read it.

Within one schema, fields may be added, and none is taken away or changes its meaning. Times are microseconds of self
time a step unless a field's name says otherwise.
"""

from __future__ import annotations

from pytest_opcost.judge.verdict import Kind, Outcome
from pytest_opcost.shapes import (
    amount,
    count,
    flag,
    list_of,
    moment,
    names_to,
    number,
    one_of,
    optional,
    record,
    row,
    text,
)

SCHEMA = 1

#: Where something was measured. `machine` names the folder of its baselines.
ENVIRONMENT = record(
    machine=text,
    device=text,
    device_name=text,
    capability=text,  # the instruction set or compute capability
    torch=text,
    threads=count,
    allocator=text,
    settings=names_to(text),  # what decides which kernels run
    details=names_to(text),  # for the reader only
)
#: Phase (forward, backward, optimizer, other), path of the module, source line; a text is empty where nobody knows.
PLACE = record(phase=text, module=text, line=text)
COUNTS = list_of(row(text, count))
#: What is exact about an operator, see `facts.OpFacts`.
FACTS = record(
    inputs=COUNTS, flops=count, kernels=COUNTS, syncs=count, alloc_bytes=count, places=list_of(PLACE),
    varying=list_of(text),
)  # fmt: skip
#: An operator; `share` is its part of the step, `forward` the part of it in the forward phase, `samples` single rounds.
#: The inclusive times are those of its calls with all that they called.
OP = record(
    name=text, family=text, calls=count, self_host_us=amount, self_device_us=amount, share=number, forward=number,
    varying=flag, samples=list_of(amount), facts=optional(FACTS), inclusive_host_us=amount, inclusive_device_us=amount,
)  # fmt: skip
#: The first step; `ops` are operator, host time, device time.
COLD = record(wall_us=amount, host_us=amount, device_us=amount, ops=list_of(row(text, amount, amount)))
#: The calls of a step, and which hands its result to which, by their indices.
FLOW = record(
    nodes=list_of(record(name=text, family=text, place=PLACE, output=text, cost_us=amount)),
    edges=list_of(row(count, count)),
)
#: One step's cost, see `costs.CostProfile`. The timeline is left out: a page's traces have it.
PROFILE = {
    "steps": count,
    "step_us": amount,  # on the wall
    "total_host_us": amount,
    "total_device_us": amount,
    "load": amount,
    "pace_us": amount,  # of a fixed piece of code beside it; 0 where nobody looked
    "negative_clamped": count,
    "flops": count,
    "remarks": list_of(text),
    "kernel_names": names_to(text),
    "autograd_nodes": optional(count),
    "cold": optional(COLD),
    "ops": list_of(OP),  # dearest first
    "flow": optional(FLOW),
}
#: Something worth saying; `change` is relative, `baseline` and `current` are in the message's unit. `took_us` is what
#: an operator took, before and now, that does other work, is called more or less often, is new or gone (then 0).
FINDING = record(
    kind=one_of(*(kind.value for kind in Kind)), op=text, family=text, message=text, baseline=optional(number),
    current=optional(number), change=number, fails=flag, took_us=optional(row(amount, amount)),
)  # fmt: skip
CAUSE = record(kind=text, message=text, op=text, module=text, line=text, explains=list_of(text))
#: An operator whose cost was judged: `own` is its change beyond what all did alike, `band` how large that may be.
COMPARED = record(op=text, before_us=number, now_us=number, own=number, band=number)
TEST = record(
    test=text,
    check=optional(text),
    family=text,  # the id without device and batch size
    device=text,
    batch_size=optional(count),
    options=optional(list_of(text)),  # without which pytest would not find the test; older files do not say
    verdict=one_of(*(outcome.value for outcome in Outcome)),
    measurements=count,
    seen_from=names_to(number),  # the change from which on a closer look would have been taken
    compared_ops=list_of(COMPARED),
    # How large a change of each ratio may be, up or down as a factor; older files do not say.
    ratio_bands=optional(names_to(number)),
    machine_factor=number,
    reported_only=flag,
    compared=flag,
    baseline=text,
    origin=text,
    data=optional(text),
    top=count,
    ratios=names_to(number),
    baseline_ratios=names_to(number),
    findings=list_of(FINDING),
    causes=list_of(CAUSE),
    changes=list_of(text),
    environment=ENVIRONMENT,
    **PROFILE,
)
#: A training, see `training.Training`; `costs` are when (start, middle, end) and what a step cost then.
TRAINING = record(
    test=text,
    model=text,
    device=text,
    batch_size=count,
    epochs=count,
    images=count,
    test_images=count,
    environment=ENVIRONMENT,
    data=text,
    loop=text,
    hyperparameters=names_to(text),
    steps=list_of(count),
    losses=list_of(number),
    accuracies=list_of(number),
    test_losses=list_of(number),
    test_accuracies=list_of(number),
    epoch_seconds=list_of(amount),
    costs=list_of(row(text, record(**PROFILE))),
    interrupted=flag,
)
#: The whole file. It also has `environment`, that of the first test, for whoever wants no more than that.
RUN = record(
    started=moment,
    environments=list_of(ENVIRONMENT),  # of the devices that were asked for
    tests=list_of(TEST),
    trainings=list_of(TRAINING),
)
