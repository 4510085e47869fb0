"""A verdict's findings, put together by what they follow from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_opcost.judge import Cause, Finding
    from pytest_opcost.results import CheckResult

#: What follows from one cause says the same again and again; what has none is each worth reading.
_MOST_OF_A_CAUSE, _MOST_OTHERS = 3, 12


@dataclass(frozen=True, slots=True)
class Told:
    """What a verdict found that follows from one cause, or, where `cause` is None, from none that is known.

    What is `folded` is there for who asks for it.
    """

    cause: Cause | None
    shown: tuple[Finding, ...]
    folded: tuple[Finding, ...]


def told(result: CheckResult) -> tuple[Told, ...]:
    """All causes, each with the findings that it is the first to explain, then the findings that none explains."""
    return tuple(_groups(result.causes, result.verdict.told))


def _groups(causes: Iterable[Cause], findings: Iterable[Finding]) -> Iterator[Told]:
    rest = [*findings]
    for cause in causes:
        # Where the cause starts is told first, whatever its rank.
        explained = sorted((one for one in rest if one.op in cause.explains), key=lambda one: one.op != cause.op)
        rest = [one for one in rest if one.op not in cause.explains]
        yield _group(cause, explained, _MOST_OF_A_CAUSE)
    if rest:
        yield _group(None, rest, _MOST_OTHERS)


def _group(cause: Cause | None, findings: list[Finding], most: int) -> Told:
    # Folding away a single one saves nothing.
    most = len(findings) if len(findings) == most + 1 else most
    return Told(cause, tuple(findings[:most]), tuple(findings[most:]))
