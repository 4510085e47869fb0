"""What is remembered of one check on one machine, what it is made of, and what its file is called."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from pytest_opcost.costs import CostProfile, RecordedRatio, merged, ratio_forms, relative_range, slug

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_LONGEST_SLUG = 120  # with the hash, the suffix and the temporary file's extra letters far below 255, the usual limit


@dataclass(frozen=True, slots=True)
class Baseline:
    """What one check of one test cost when it was recorded. `check` is the name that the call gave, if any."""

    test: str
    check: str | None
    recorded: str
    profile: CostProfile
    ratios: Mapping[str, RecordedRatio]
    path: Path


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
    return Baseline(test, check, date.today().isoformat(), profile, recorded, path)


def quoted(test: str) -> str:
    """A test id as a shell takes it."""
    return '"' + test.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`") + '"'
