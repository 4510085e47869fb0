"""Which figures are compared with which."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_opcost.storage import comparable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.costs import Environment
    from pytest_opcost.shell.known import Known


@dataclass(frozen=True, slots=True)
class Pairs:
    """What belongs together, before and after, and what has no counterpart."""

    pairs: tuple[tuple[Known, Known], ...]
    only_before: tuple[Known, ...]
    only_after: tuple[Known, ...]


def paired(before: Sequence[Known], after: Sequence[Known]) -> Pairs:
    """Each check with the same one on the other side, that of the most similar machine."""
    by_check = defaultdict(list)
    for one in before:
        by_check[one.identity].append(one)
    pairs, alone = [], []
    for one in after:
        if candidates := by_check.get(one.identity):
            pairs.append((min(candidates, key=lambda other: _unlike(other, one)), one))
        else:
            alone.append(one)
    used = {id(first) for first, _ in pairs}
    # Other machines' baselines of a test that was compared are no loss.
    checked = {one.identity for _, one in pairs}
    left = tuple(one for one in before if id(one) not in used and one.identity not in checked)
    return Pairs(tuple(pairs), left, tuple(alone))


def _unlike(one: Known, other: Known) -> int:
    """How little two machines have in common: 0 for the same."""
    first, second = one.profile.environment, other.profile.environment
    if same_hardware(first, second):
        return 0 if first.torch_minor == second.torch_minor else 1
    return 2 if comparable(first, second) else 3


def same_hardware(one: Environment, other: Environment) -> bool:
    """Whether nothing but torch is another: then the machines' keys tell no more than its version apart."""
    return replace(one, torch="").machine_key == replace(other, torch="").machine_key
