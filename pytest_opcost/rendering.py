"""`Baseline` -> the text of its YAML file: one line a thing, so that git shows what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost import yaml_text
from pytest_opcost.baselines import update_command
from pytest_opcost.facts import MOST_PLACES, brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.baselines import Baseline
    from pytest_opcost.costs import OpCost
    from pytest_opcost.facts import Counts, OpFacts

SCHEMA = 2

#: Operators below this share keep their calls and cost, but not the samples of single rounds, and a digest of their
#: input shapes.
WHOLE_SHARE = 0.005
#: So does an operator with more, or longer, input shapes than this, since a line is to be read.
MOST_VARIANTS, LONGEST_VARIANTS = 8, 400


def render(baseline: Baseline, top: int, options: Sequence[str] = ()) -> str:
    """The file's text: the `top` operators with all that is known of them, one line each, and the rest in brief.

    `options` are those without which pytest would not find the test.
    """
    profile, environment = baseline.profile, baseline.profile.environment
    head: dict[str, object] = {"schema": SCHEMA, "test": baseline.test}
    if baseline.check is not None:
        head["check"] = baseline.check
    head |= {"recorded": baseline.recorded, "machine": environment.machine_key}
    pace = {"pace_us": _short(profile.pace_us)} if profile.pace_us else {}
    nodes = {} if profile.autograd_nodes is None else {"autograd_nodes": profile.autograd_nodes}
    blocks: dict[str, object] = {
        "environment": {
            "device": environment.device,
            "device_name": environment.device_name,
            "capability": environment.capability,
            "torch": environment.torch,
            "threads": environment.threads,
            "allocator": environment.allocator,
        },
        "settings": dict(environment.settings),
        "details": dict(environment.details),
        "step": {
            "steps": profile.steps,
            "wall_us": _short(profile.wall_us),
            "total_host_us": _short(profile.total_host_us),
            "total_device_us": _short(profile.total_device_us),
            "load": round(profile.load, 2),
            **pace,
            **nodes,
        },
    }
    if profile.cold is not None:
        cold = profile.cold
        blocks["cold"] = {
            "wall_us": _short(cold.wall_us),
            "host_us": _short(cold.host_us),
            "device_us": _short(cold.device_us),
            "ops": {name: [_short(host), _short(device)] for name, host, device in cold.ops},
        }
    lines = [
        "# Operator costs of one step, recorded by pytest-opcost; times are microseconds of self time a step.",
        f"# Accept new figures with: {update_command(baseline.test, options)}",
        *(yaml_text.block({key: value}) for key, value in head.items()),
    ]
    for name, block in blocks.items():
        lines += [f"{name}: {yaml_text.flow(block)}"]
    lines += ["sessions:"]
    lines += [
        f"  - {yaml_text.flow({'recorded': one.recorded, 'rounds': one.rounds, 'load': round(one.load, 2)})}"
        for one in baseline.sessions
    ]
    lines += ["ratios:"] if baseline.ratios else ["ratios: {}"]
    lines += [
        f"  {yaml_text.flow(name)}: {yaml_text.flow({'value': _short(ratio.value), 'spread': round(ratio.spread, 4)})}"
        for name, ratio in baseline.ratios.items()
    ]
    lines += ["ops:"]
    facts: dict[str, object] = {}
    for rank, op in enumerate(profile.ops):
        if rank == top:
            lines += [f"  # below the top {top}"]
        whole = rank < top or op.share >= WHOLE_SHARE
        lines += [f"  - {yaml_text.flow(_row(op, sampled=whole))}"]
        if op.facts is not None and (told := _facts(op.facts, whole=whole)):
            facts[op.name] = told
    lines += ["facts:"] if facts else []
    lines += [f"  {yaml_text.flow(name)}: {yaml_text.flow(told)}" for name, told in facts.items()]
    return "\n".join(lines) + "\n"


def _row(op: OpCost, *, sampled: bool) -> dict[str, object]:
    row: dict[str, object] = {
        "op": op.name,
        "family": op.family,
        "calls": op.calls,
        "self_host_us": _short(op.self_host_us),
        "self_device_us": _short(op.self_device_us),
        "share": round(op.share, 4),
    }
    if op.forward < 1:
        row["forward"] = round(op.forward, 4)
    if op.varying:
        row["varying"] = True
    if sampled and op.samples:
        row["samples"] = [_short(sample) for sample in op.samples]
    return row


def _facts(facts: OpFacts, *, whole: bool) -> dict[str, object]:
    """The facts of one operator; those that are empty or zero are left out, and so are source lines, which move."""
    # An operator's inputs follow from the model; those of a cheap one need not be read, only compared.
    told: dict[str, object] = {"flops": facts.flops, "alloc_bytes": facts.alloc_bytes, "syncs": facts.syncs}
    told["kernels"] = _counts(facts.kernels, whole=True)
    told["inputs"] = _counts(facts.inputs, whole=whole)
    told["varying"] = list(facts.varying)
    if any(told.values()):
        told["at"] = list(dict.fromkeys(f"{one.phase} {one.module}".strip() for one in facts.places))[:MOST_PLACES]
    return {name: value for name, value in told.items() if value}


def _short(value: float) -> float | int:
    """Four significant digits; whole numbers from 1,000 on."""
    short = float(f"{value:.4g}")
    return int(short) if short >= 1000 else short


def _counts(counts: Counts, *, whole: bool) -> dict[str, int]:
    long = len(counts) > MOST_VARIANTS or sum(len(name) for name, _ in counts) > LONGEST_VARIANTS
    return dict(brief(counts) if counts and (long or not whole) else counts)
