"""Results that belong together: those of one test in several configurations, and several checks of one test."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_opcost.results import CheckResult, Subject


@dataclass(frozen=True, slots=True)
class Group:
    """All configurations of one test, by device and rising batch size; `check` is the name that `opcost.check` got."""

    family: str
    check: str | None
    members: tuple[CheckResult, ...]

    @property
    def title(self) -> str:
        """The test's id without its configuration, with the check's name behind."""
        return self.family if self.check is None else f"{self.family} ({self.check})"

    @property
    def devices(self) -> dict[str, tuple[CheckResult, ...]]:
        """The members of each device."""
        devices: dict[str, list[CheckResult]] = defaultdict(list)
        for member in self.members:
            devices[member.subject.device].append(member)
        return {device: tuple(members) for device, members in devices.items()}


def groups(results: Sequence[CheckResult]) -> list[Group]:
    """The results by test, in the order in which they came."""
    found: dict[tuple[str, str | None], list[CheckResult]] = defaultdict(list)
    for result in results:
        found[result.subject.family, result.subject.check].append(result)
    return [
        Group(family, check, tuple(sorted(members, key=lambda one: (one.subject.device, one.subject.batch_size or 0))))
        for (family, check), members in found.items()
    ]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The checks that one test made in one configuration, in their order: ways to do the same, as a rule."""

    test: str
    family: str
    members: tuple[CheckResult, ...]

    @property
    def names(self) -> list[str]:
        """What each check is called; one may have no name."""
        return [one.subject.check or "unnamed" for one in self.members]


def side_by_side(results: Sequence[CheckResult]) -> list[SideBySide]:
    """The tests that made several checks on one device."""
    found: dict[tuple[str, str], dict[str | None, CheckResult]] = defaultdict(dict)
    for result in results:
        found[result.subject.test, result.subject.device][result.subject.check] = result
    return [
        SideBySide(test, next(iter(checks.values())).subject.family, tuple(checks.values()))
        for (test, _), checks in found.items()
        if len(checks) > 1
    ]


def configuration(subject: Subject, size: str = "batch ") -> str:
    """What sets a test apart from others of its group: `cpu, batch 16`, with `size` before the figure."""
    return subject.device if subject.batch_size is None else f"{subject.device}, {size}{subject.batch_size}"
