"""The records that flow through the house: what one step costs, operator by operator, and where it was measured."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_opcost.facts import OpFacts
    from pytest_opcost.flow import DataFlow
    from pytest_opcost.timeline import Span

#: The name of the pseudo-family that stands for the whole step in a ratio such as `copy/total`.
TOTAL = "total"
#: Families that wait as much as they work: for the device, or for other processes. They have no share.
WAITING = frozenset({"wait", "comm"})


@dataclass(frozen=True, slots=True)
class Environment:
    """Where and how a step was measured.

    `settings` are the switches that decide which kernels run (threads, TF32, cuDNN flags, autocast, deterministic
    mode): two profiles with other settings are not comparable. `details` say more and are not compared. What is not
    known of a profile that was imported is called `unknown`; 0 `threads` are an unknown number.
    """

    device: str
    device_name: str
    capability: str
    torch: str
    threads: int
    allocator: str
    settings: tuple[tuple[str, str], ...] = ()
    details: tuple[tuple[str, str], ...] = ()

    @property
    def torch_minor(self) -> str:
        """The torch version without its patch level and build: `2.11.0+cu130` -> `2.11`."""
        return ".".join(self.torch.split("+")[0].split(".")[:2])

    @property
    def card(self) -> str | None:
        """What tells an accelerator from others of its model, where it is known."""
        card = dict(self.details).get("card")
        return None if card == "unknown" else card

    @property
    def machine_key(self) -> str:
        """A short readable name for "the same machine", safe as a folder name; it does not change from boot to boot."""
        parts = [self.device, self.device_name]
        if self.device == "cpu":
            parts += [f"{self.threads or 'unknown'}-thread{'s' if self.threads != 1 else ''}"]
            parts += [f"{self.allocator}-malloc"] if self.allocator != "quiet" else []
        return slug("-".join([*parts, f"torch{self.torch_minor}"]))


@dataclass(frozen=True, slots=True)
class OpCost:
    """One operator's cost in one step.

    `calls` are calls a step; times are microseconds a step, self time only, so that rows add up. `share` is the part of
    the step's total on the clock that counts (see `CostProfile.clock`), `forward` the part of this operator's own cost
    that falls into the forward phase, both between 0 and 1. `varying` marks an operator that is not called equally
    often in every step. `samples` are this row's costs in single rounds, microseconds on the clock that counts. `facts`
    are what is exact about it, None where that was not looked for.
    The inclusive times are those of its calls with all that they called, for the reader alone: they add up to nothing,
    and no baseline keeps them; 0 where nobody looked.
    """

    name: str
    family: str
    calls: int
    self_host_us: float
    self_device_us: float
    share: float
    forward: float = 1.0
    varying: bool = False
    samples: tuple[float, ...] = ()
    facts: OpFacts | None = None
    inclusive_host_us: float = 0.0
    inclusive_device_us: float = 0.0

    @property
    def waits(self) -> bool:
        """Whether the row is waiting rather than work, see `WAITING`: it has no share and is in no total."""
        return self.family in WAITING

    def at(self, host_us: float, device_us: float, share: float, samples: tuple[float, ...] | None = None) -> OpCost:
        """The same operator at other self times and another share, and with other samples, if any are given.

        `dataclasses.replace` takes four times as long, which a comparison of a thousand baselines feels.
        """
        return OpCost(
            self.name,
            self.family,
            self.calls,
            host_us,
            device_us,
            share,
            self.forward,
            self.varying,
            self.samples if samples is None else samples,
            self.facts,
            self.inclusive_host_us,
            self.inclusive_device_us,
        )


@dataclass(frozen=True, slots=True)
class RecordedRatio:
    """A ratio in a baseline: its value, and how far the recording's rounds lay apart (see `relative_range`)."""

    value: float
    spread: float


@dataclass(frozen=True, slots=True)
class ColdStep:
    """The very first step, which pays for lazy initialisation; times in microseconds.

    `ops` are the operators that took the most host time, each with its self host and self device time.
    """

    wall_us: float
    host_us: float
    device_us: float
    ops: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class CostProfile:
    """The cost of one step: every operator, dearest first, and the environment that it was measured in.

    `wall_us` is the step's time on the wall, `total_host_us` and `total_device_us` the sums over operators. `load` is
    how much other work the machine had: 0 for none, 1 where all other cores were busy, more where we had to wait.
    `pace_us` is what a fixed piece of code took meanwhile, 0 where nobody looked: a shared core is slower.
    `negative_clamped` counts events whose children claimed more time than they had themselves. `kernel_names` are the
    full names of the kernels that the operators' facts name in short, `remarks` what a reader of the figures must know.
    `autograd_nodes` is how many nodes autograd makes in a step, 0 where gradients are off, None where nobody looked.
    `flow` is how data flows through the step, None where nobody looked, `timeline` what the profiler saw in the last
    measured step, empty where nobody asked; no baseline keeps them.
    """

    environment: Environment
    steps: int
    ops: tuple[OpCost, ...]
    wall_us: float
    total_host_us: float
    total_device_us: float
    load: float = 0.0
    pace_us: float = 0.0
    cold: ColdStep | None = None
    negative_clamped: int = 0
    kernel_names: tuple[tuple[str, str], ...] = ()
    autograd_nodes: int | None = None
    remarks: tuple[str, ...] = ()
    flow: DataFlow | None = None
    timeline: tuple[Span, ...] = ()
    _table: dict[str, OpCost] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def clock(self) -> str:
        """Which time is judged: `device` where a device reported its own, else `host`."""
        return "device" if self.total_device_us > 0 else "host"

    @property
    def total_us(self) -> float:
        """The step's total on the clock that counts, in microseconds."""
        return self.total_device_us if self.clock == "device" else self.total_host_us

    def cost_us(self, op: OpCost) -> float:
        """One operator's self time on the clock that counts, in microseconds a step."""
        # `clock`, without a call for each operator.
        return op.self_device_us if self.total_device_us > 0 else op.self_host_us

    @property
    def flops(self) -> int:
        """Floating point operations a step, as far as torch has formulas for them."""
        return sum(op.facts.flops for op in self.ops if op.facts is not None)

    def by_name(self) -> Mapping[str, OpCost]:
        """The operators, keyed by name."""
        table = self._table
        if table is None:  # kept, since a judgement asks for it some forty times
            object.__setattr__(self, "_table", table := {op.name: op for op in self.ops})
        return table

    def top(self, count: int) -> tuple[tuple[OpCost, ...], OpCost | None]:
        """The `count` dearest operators, and a row "other" for the rest (None if there is none): shares add up to 1."""
        working = [op for op in self.ops if not op.waits]
        head, tail = tuple(working[:count]), working[count:]
        if not tail:
            return head, None
        other = OpCost(
            name="other",
            family="other",
            calls=sum(op.calls for op in tail),
            self_host_us=sum(op.self_host_us for op in tail),
            self_device_us=sum(op.self_device_us for op in tail),
            share=1.0 - sum(op.share for op in head),
        )
        return head, other

    def side(self, name: str) -> list[OpCost]:
        """The operators of one side of a ratio: of a family, one by its full name, or all that work (`total`)."""
        if name == TOTAL:
            return [op for op in self.ops if not op.waits]
        return [op for op in self.ops if op.family == name or op.name == name]

    def side_us(self, name: str, *, forward_only: bool = False) -> float:
        """The cost of one side of a ratio in microseconds."""
        return sum(self.cost_us(op) * (op.forward if forward_only else 1.0) for op in self.side(name))

    def ratio(self, declared: str) -> float | None:
        """A ratio: `conv/addmm`, or `conv/addmm forward` for that phase alone; None if a side costs nothing."""
        pair, _, phase = declared.partition(" ")
        above, below = pair.split("/")
        numerator, denominator = (self.side_us(side, forward_only=phase == "forward") for side in (above, below))
        return numerator / denominator if numerator > 0 and denominator > 0 else None


def ratio_forms(profile: CostProfile, declared: Iterable[str]) -> tuple[str, ...]:
    """The forms in which declared ratios are judged: over the whole step and, if it has others, the forward phase."""
    one_phase = all(op.forward == 1 for op in profile.ops)
    return tuple(form for ratio in declared for form in ((ratio,) if one_phase else (ratio, f"{ratio} forward")))


def totals(ops: Iterable[OpCost]) -> tuple[float, float]:
    """Self host and self device time of all operators, in microseconds; waiting is no work, see `WAITING`."""
    working = [op for op in ops if not op.waits]
    return sum(op.self_host_us for op in working), sum(op.self_device_us for op in working)


def with_shares(profile: CostProfile) -> CostProfile:
    """The same profile with its shares computed and its operators sorted, dearest first."""
    total = profile.total_us

    def shared(op: OpCost) -> OpCost:
        share = profile.cost_us(op) / total if total > 0 and not op.waits else 0.0
        return op.at(op.self_host_us, op.self_device_us, share)

    def order(op: OpCost) -> tuple[bool, float, float, str]:
        return op.waits, -profile.cost_us(op), -op.self_host_us, op.name

    return replace(profile, ops=tuple(sorted(map(shared, profile.ops), key=order)))


def with_ops(profile: CostProfile, ops: Iterable[OpCost]) -> CostProfile:
    """The same profile of these operators, its totals and shares computed anew."""
    ops = tuple(ops)
    host_us, device_us = totals(ops)
    return with_shares(replace(profile, ops=ops, total_host_us=host_us, total_device_us=device_us))


def slug(text: str) -> str:
    """`text` with everything but letters, digits, dots and underscores turned into single dashes, in lower case."""
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-.")


def relative_range(samples: Sequence[float]) -> float:
    """`max / min - 1` of the samples; 0 for fewer than two."""
    return max(samples) / min(samples) - 1 if len(samples) > 1 and min(samples) > 0 else 0.0
