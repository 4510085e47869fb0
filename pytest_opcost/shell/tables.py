"""A printed table beside another profile: both, as far as a table tells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_opcost.costs import ratio_forms, with_ops
from pytest_opcost.families import family_of
from pytest_opcost.imports.known import NOT_PRINTED, is_printed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pytest_opcost.costs import CostProfile, OpCost
    from pytest_opcost.shell.known import Known

_CUT = "..."


def likened(before: Known, after: Known) -> tuple[Known, Known]:
    """Both sides with what both tell; as they are where neither is a printed table.

    A table cuts names, leaves rows out, knows no phases, counts a call of an operator that does nothing but call itself
    once, and has users' annotations as rows: what only one of the two can tell of these is left out of the other.
    """
    one, other = before.profile, after.profile
    if not is_printed(one) and not is_printed(other):
        return before, after
    if is_printed(one):
        one, other = _beside(one, other)
    if is_printed(other):
        other, one = _beside(other, one)
    told = f"{before.told}, as far as a printed table tells"
    return replace(_of(before, one), told=told), _of(after, other)


def _of(known: Known, profile: CostProfile) -> Known:
    """What is known with another profile, its ratios computed anew."""
    declared = dict.fromkeys(form.partition(" ")[0] for form in known.ratios)
    ratios = {form: value for form in ratio_forms(profile, declared) if (value := profile.ratio(form)) is not None}
    return replace(known, profile=profile, ratios=ratios)


def _beside(table: CostProfile, other: CostProfile) -> tuple[CostProfile, CostProfile]:
    """The table, and the other profile as the table would have it."""
    theirs = _as_cut(other, [op.name for op in table.ops if op.name.endswith(_CUT)])
    families = {op.name: op.family for op in theirs}
    ours = [replace(op, family=families.get(op.name, op.family)) for op in table.ops if op.name != NOT_PRINTED]
    if len(ours) < len(table.ops):
        printed = {op.name for op in ours}
        theirs = [op for op in theirs if op.name in printed]
    if not is_printed(other):
        ours = [op for op in ours if op.name in families or not _may_be_an_annotation(op.name)]
        counts = {op.name: op.calls for op in ours}
        theirs = [replace(op, calls=min(op.calls, counts.get(op.name, op.calls)), forward=1.0) for op in theirs]
    return with_ops(table, ours), with_ops(other, theirs)


def _as_cut(profile: CostProfile, cut: Collection[str]) -> list[OpCost]:
    """The operators under the names that a table shows, those of one visible name added up."""
    from pytest_opcost.imports.aggregated import added_up

    def named() -> Iterator[OpCost]:
        for op in profile.ops:
            shown = (name for name in cut if op.name != name and op.name.startswith(name.removesuffix(_CUT)))
            name = max((name for name in shown if len(name) <= len(op.name)), key=len, default=None)
            # Samples of one would stand for all that are added up.
            yield op if name is None else replace(op, name=name, samples=())

    return added_up(list(named()))


def _may_be_an_annotation(name: str) -> bool:
    """Whether a row may be a user's: operators have a namespace, or are of a family that is known."""
    return "::" not in name and family_of(name) == name and not name.endswith(_CUT)
