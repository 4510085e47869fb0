"""What can be said of a check: outcomes, findings, and the verdict that they add up to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from pytest_opcost.judge.figures import microseconds, signed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pytest_opcost.costs import CostProfile


class Outcome(Enum):
    """How a check ended."""

    PASSED = "passed"
    DRIFTED = "drifted"
    RECORDED = "recorded"
    NOT_JUDGED = "not_judged"
    INCONCLUSIVE = "inconclusive"

    @property
    def words(self) -> str:
        """The outcome as it is read: `not judged`."""
        return self.value.replace("_", " ")


class Kind(Enum):
    """What a finding is about."""

    SETTING = "setting_changed"
    BACKEND = "backend_changed"
    NEW = "operator_new"
    GONE = "operator_gone"
    CALLS = "calls_changed"
    INPUTS = "inputs_changed"
    FLOPS = "flops_changed"
    KERNELS = "kernels_changed"
    SYNCS = "syncs_changed"
    MEMORY = "allocation_changed"
    AUTOGRAD = "autograd_changed"
    RATIO = "ratio_drifted"
    DEARER = "operator_dearer"
    CHEAPER = "operator_cheaper"
    NOISE = "not_told_at_this_noise"
    MACHINE = "machine_changed"
    UNKNOWN = "not_in_the_baseline"


#: What a finding is about that tells of the core or card it was measured on, and of no operator.
CORE = "core"
#: What one operator is exactly known by.
FACTS = frozenset({Kind.INPUTS, Kind.FLOPS, Kind.KERNELS, Kind.SYNCS, Kind.MEMORY})
#: Facts by which an operator does other work than before, so that its times do not compare.
OTHER_WORK = frozenset({Kind.INPUTS, Kind.FLOPS, Kind.KERNELS})
#: Facts that hold without noise: seen twice, they are certain.
EXACT = frozenset({Kind.SETTING, Kind.BACKEND, Kind.NEW, Kind.GONE, Kind.CALLS, Kind.AUTOGRAD}) | FACTS


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing worth saying. `op` is an operator, a ratio or a setting; the figures are in the message's unit.

    `change` is the relative change of a timing (0.3 is 30 % dearer), for the order of findings; 0 for exact ones.
    `took_us` is what an operator took, before and now, in microseconds a step, that does other work, is called more or
    less often, is new or gone (0 where it is not there): such times do not compare, but are told.
    """

    kind: Kind
    op: str
    family: str
    message: str
    baseline: float | None = None
    current: float | None = None
    change: float = 0.0
    fails: bool = False
    took_us: tuple[float, float] | None = None

    @property
    def text(self) -> str:
        """The message, and what the operator took."""
        if self.took_us is None:
            return self.message
        was, now = self.took_us
        if min(was, now) == 0:
            return f"{self.message}; {'it takes' if now else 'it took'} {microseconds(max(was, now))} a step"
        return f"{self.message}; time {microseconds(was)} -> {microseconds(now)} a step ({signed(now / was - 1)})"

    @property
    def key(self) -> tuple[Kind | None, str, bool]:
        """What makes two findings of two measurements the same: what moved, and in which direction.

        A timing is the same whether it was told aloud or drowned in noise.
        """
        return self.kind if self.kind in EXACT else None, self.op, self.change > 0

    @property
    def perhaps_cheaper(self) -> bool:
        """Whether it is about an operator that seems cheaper by no more than noise explains; ratios fail both ways."""
        return self.kind is Kind.NOISE and self.change < 0 and self.family != "ratio"


@dataclass(frozen=True, slots=True)
class Compared:
    """One operator whose cost was judged: microseconds before and now.

    `own` is its relative change beyond what the machine explains (0.3 is 30 % dearer), `band` how large that may be,
    up or down as a factor, before it is suspicious.
    """

    op: str
    before_us: float
    now_us: float
    own: float
    band: float

    @property
    def within(self) -> bool:
        """Whether the change may well be noise."""
        return 1 / (1 + self.band) <= 1 + self.own <= 1 + self.band


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome and its reasons, the gravest first. `factor` is how much dearer all operators alike are (1.0: not).

    `score` tells how close any cost came to failing, in standard errors beyond the least change that is worth telling,
    and `scores` how close each did, with its standard error; one fails above `critical`, infinite where none is
    suspicious. `seen` are the dearest operators and the ratios, each with the smallest relative change that would have
    raised a suspicion 99 times in 100; empty where nothing was compared by time. `disturbed` are the numbers of the
    measurements that do not compare, see `disturbed.py`; they count only where all are. `cost_judged` is False where
    the baseline is another machine's, so that only exact facts were compared. `compared` are all operators whose costs
    were judged, `ratio_bands` how large a relative change of each ratio may be, up or down as a factor, before it is
    suspicious.
    """

    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    factor: float = 1.0
    measurements: int = 1
    cost_judged: bool = True
    score: float = 0.0
    critical: float = math.inf
    scores: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    seen: tuple[tuple[str, float], ...] = ()
    compared: tuple[Compared, ...] = ()
    ratio_bands: tuple[tuple[str, float], ...] = ()
    disturbed: tuple[int, ...] = ()

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings that make the check fail."""
        return tuple(finding for finding in self.findings if finding.fails)

    @property
    def unmoved(self) -> bool:
        """Whether times were compared, and nothing moved that is worth saying."""
        return self.outcome is Outcome.PASSED and bool(self.seen) and not self.findings

    @property
    def fails_by_time(self) -> bool:
        """Whether a time or a ratio fails the check, and not what is exact alone."""
        return any(finding.kind not in EXACT for finding in self.failing)

    @property
    def told(self) -> tuple[Finding, ...]:
        """The findings that are told: beside what fails, an operator that may be cheaper, or not, says nothing."""
        if not self.failing:
            return self.findings
        return tuple(finding for finding in self.findings if not finding.perhaps_cheaper)


def counted(rounds: Sequence[CostProfile], disturbed: Collection[int]) -> Sequence[CostProfile]:
    """The rounds but for those that do not compare; all of them where none does."""
    return [one for index, one in enumerate(rounds) if index not in disturbed] or rounds


def outcome_of(findings: Iterable[Finding], *, cost_judged: bool = True) -> Outcome:
    """The outcome that follows from findings: one that fails outweighs one that cannot be told."""
    kinds = {Kind.NOISE if finding.kind is Kind.NOISE else finding.fails for finding in findings}
    if True in kinds:
        return Outcome.DRIFTED
    if Kind.NOISE in kinds:
        return Outcome.INCONCLUSIVE
    return Outcome.PASSED if cost_judged else Outcome.NOT_JUDGED
