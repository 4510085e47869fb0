"""What is remembered of one check on one machine, what it is made of, and what its file is called."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import date
from statistics import median
from typing import TYPE_CHECKING

from pytest_opcost.costs import CostProfile, OpCost, RecordedRatio, ratio_forms, relative_range, slug, with_ops
from pytest_opcost.judge.reference import Reference
from pytest_opcost.merging import merged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_LONGEST_SLUG = 120  # with the hash, the suffix and the temporary file's extra letters far below 255, the usual limit


#: A baseline keeps the rounds of so many sessions, the latest.
MOST_SESSIONS = 10


@dataclass(frozen=True, slots=True)
class Session:
    """One recording: when it was, how many rounds it had, and how busy the machine was meanwhile."""

    recorded: str
    rounds: int
    load: float = 0.0


@dataclass(frozen=True, slots=True)
class Baseline:
    """What one check of one test cost when it was recorded. `check` is the name that the call gave, if any.

    The samples of the profile's operators are the rounds of all `sessions`, in their order.
    """

    test: str
    check: str | None
    recorded: str
    profile: CostProfile
    ratios: Mapping[str, RecordedRatio]
    path: Path
    sessions: tuple[Session, ...]

    @property
    def rounds(self) -> int:
        """How many rounds it is made of, in all sessions together."""
        return sum(session.rounds for session in self.sessions)

    @property
    def history(self) -> str:
        """When it was recorded, and of how much it is, as it is told."""
        told = f"{self.rounds} round{'' if self.rounds == 1 else 's'}"
        if len(self.sessions) > 1:
            return f"recorded {self.recorded} in {len(self.sessions)} sessions of {told} together"
        return f"recorded {self.recorded} in one session of {told}, which sees less than several do"

    @property
    def reference(self) -> Reference:
        """What a step is judged against."""
        ratios = {form: ratio.value for form, ratio in self.ratios.items()}
        return Reference(self.profile, tuple(session.rounds for session in self.sessions), ratios=ratios)


def baseline_path(root: Path, machine: str, test: str, check: str | None) -> Path:
    """Where the baseline of a check lives: a readable name, and a hash that tells apart what reads alike."""
    identity = test if check is None else f"{test}::{check}"
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    readable = slug(identity.encode("ascii", "ignore").decode())
    # The end of an id (the test's name and parameters) tells more than its beginning (the folders).
    parts = (readable[-_LONGEST_SLUG:].lstrip("-."), digest)
    return root / machine / f"{'-'.join(part for part in parts if part)}.yaml"


def new_baseline(
    path: Path, test: str, check: str | None, rounds: Sequence[CostProfile], ratios: Sequence[str]
) -> Baseline:
    """A baseline made of several measurements of one step; `ratios` are the declared ones."""
    profile = merged(rounds)
    recorded = {}
    for form in ratio_forms(profile, ratios):
        value, samples = profile.ratio(form), [sample for one in rounds if (sample := one.ratio(form))]
        if value is not None:
            recorded[form] = RecordedRatio(value, relative_range(samples))
    today = date.today().isoformat()
    session = Session(today, len(rounds), profile.load)
    return Baseline(test, check, today, profile, recorded, path, (session,))


def with_session(old: Baseline, new: Baseline) -> Baseline:
    """A baseline with the rounds of one more session; those of the oldest go where there are too many."""
    sessions = (*old.sessions, *new.sessions)[-MOST_SESSIONS:]
    then, now, count = (sum(one.rounds for one in some) for some in (old.sessions, new.sessions, sessions))
    was = old.profile.by_name()

    def together(op: OpCost) -> OpCost:
        before = was[op.name].samples if op.name in was else ()
        if (len(before), len(op.samples)) != (then, now):
            return replace(op, samples=())
        samples = (*before, *op.samples)[-count:]
        cost = median(samples)
        if new.profile.clock == "device":
            return replace(op, samples=samples, self_device_us=cost)
        return replace(op, samples=samples, self_host_us=cost)

    profile = with_ops(new.profile, map(together, new.profile.ops))
    ratios = {
        form: RecordedRatio(value, max(ratio.spread, old.ratios[form].spread if form in old.ratios else 0.0))
        for form, ratio in new.ratios.items()
        if (value := profile.ratio(form)) is not None
    }
    return replace(new, profile=profile, sessions=sessions, ratios=ratios)


def update_command(test: str, options: Sequence[str] = ()) -> str:
    """The command that takes a test's new figures over; `options` are those without which pytest would not find it."""
    return " ".join(["pytest", quoted(test), *options, "--opcost-update-baselines"])


def quoted(test: str) -> str:
    """A test id as a shell takes it."""
    return '"' + test.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`") + '"'
