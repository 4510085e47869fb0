"""What single operators are exactly known by: their inputs, FLOPs, kernels, synchronisations and allocations."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from pytest_opcost.facts import COMPARED, OpFacts, same
from pytest_opcost.judge.verdict import Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.costs import CostProfile, OpCost
    from pytest_opcost.facts import Counts

_KINDS = dict(zip(COMPARED, (Kind.INPUTS, Kind.FLOPS, Kind.KERNELS, Kind.SYNCS, Kind.MEMORY)))
#: What another machine of the same device type has in common, and what one of the same instruction set has.
ANYWHERE, SAME_CAPABILITY = ("inputs", "flops", "syncs"), ("inputs", "flops", "kernels", "syncs")
#: What a message says behind the rest where not all of it is known.
AS_DIGEST = " (recorded as a digest"
_MOST_VARIANTS = 2
_NOTHING = OpFacts()


def fact_findings(old: CostProfile, new: CostProfile, compared: Sequence[str], skipped: set[str]) -> Iterator[Finding]:
    """At most one finding an operator, about the first of the `compared` facts that differs: it explains the others.
    Operators that compute the most come first: what they take is what others only prepare and follow up.

    Operators in `skipped` differ in their calls already. Profiles without any facts are not compared.
    """
    if not (_has_facts(old) and _has_facts(new)):
        return
    was, now = old.by_name(), new.by_name()

    def computing(name: str) -> int:
        return -max(_facts(was.get(name)).flops, _facts(now.get(name)).flops)

    told = attrgetter(*compared)
    steady = [name for name in {**now, **was} if name not in skipped]
    unlike = [name for name in steady if told(_facts(was.get(name))) != told(_facts(now.get(name)))]
    for name in sorted(unlike, key=computing):
        one, two = _facts(was.get(name)), _facts(now.get(name))
        for fact in compared:
            if fact not in one.varying + two.varying and _differ(fact, one, two):
                yield _finding(name, (now.get(name) or was[name]).family, fact, one, two)
                break


def place_in_words(op: OpCost) -> str:
    """Where an operator is called, if that is one place: `, in conv1 at model.py:12`; else nothing."""
    places = op.facts.places if op.facts is not None else ()
    if len({(place.module, place.line) for place in places}) != 1:
        return ""
    module, line = places[0].module, places[0].line
    words = [*([f"in {module}"] if module else []), *([f"at {line}"] if line else [])]
    return f", {' '.join(words)}" if words else ""


def _has_facts(profile: CostProfile) -> bool:
    return any(op.facts is not None for op in profile.ops)


def _facts(op: OpCost | None) -> OpFacts:
    return op.facts if op is not None and op.facts is not None else _NOTHING


def _differ(fact: str, one: OpFacts, two: OpFacts) -> bool:
    before, after = getattr(one, fact), getattr(two, fact)
    return not same(before, after) if isinstance(before, tuple) else bool(before != after)


def _finding(name: str, family: str, fact: str, one: OpFacts, two: OpFacts) -> Finding:
    words = {
        "inputs": f"takes {_changed(one.inputs, two.inputs, 'input shapes or types')}{_flops_too(one, two)}",
        "flops": f"computes {flops(two.flops)} a step (was {flops(one.flops)})",
        "kernels": _run(one.kernels, two.kernels),
        "syncs": f"waits for the device {_times(two.syncs)} a step (was {one.syncs})",
        "alloc_bytes": f"allocates {size(two.alloc_bytes)} a step (was {size(one.alloc_bytes)})",
    }
    before, after = getattr(one, fact), getattr(two, fact)
    message = f"{name} ({family}) {words[fact]}"
    if isinstance(before, tuple):
        return Finding(_KINDS[fact], name, family, message, fails=True)
    return Finding(_KINDS[fact], name, family, message, float(before), float(after), fails=True)


def _run(one: Counts, two: Counts) -> str:
    """What other kernels are run; an operator may do its work without any that is recorded."""
    if _without(two, one) or _is_brief(one):
        return f"runs {_changed(one, two, 'kernels')}"
    return f"no longer runs {_without(one, two)}"


def _changed(one: Counts, two: Counts, what: str) -> str:
    """What differs between two counts, new ones first. Of a digest nobody knows more than that, and how many."""
    if not (_is_brief(one) or _is_brief(two)):
        return f"{_without(two, one) or 'nothing'} (was {_without(one, two) or 'nothing'})"
    then, now = _sum(one), _sum(two)
    told = f"other {what} than before" + (f", {now} a step (was {then})" if now != then else "")
    both = ("now", two), ("was", one)
    sides = [f"{word} {_without(side, ()) or 'nothing'}" for word, side in both if not _is_brief(side)]
    return f"{': '.join([told, *sides])}{AS_DIGEST}: --opcost-base=COMMIT shows both sides)"


def _is_brief(counts: Counts) -> bool:
    return any(name.startswith("#") for name, _ in counts)


def _sum(counts: Counts) -> int:
    return sum(count for _, count in counts)


def _without(some: Counts, others: Counts) -> str:
    counts = dict(others)
    rest = [(name, count - counts.get(name, 0)) for name, count in some if count > counts.get(name, 0)]
    told = [f"{name}{f' x{count}' if count > 1 else ''}" for name, count in rest[:_MOST_VARIANTS]]
    return ", ".join(told) + (f" and {len(rest) - _MOST_VARIANTS} more" if len(rest) > _MOST_VARIANTS else "")


def _flops_too(one: OpFacts, two: OpFacts) -> str:
    return f"; {flops(two.flops)} a step (was {flops(one.flops)})" if one.flops != two.flops else ""


def _times(count: int) -> str:
    return f"{count} time{'' if count == 1 else 's'}"


def flops(count: int) -> str:
    """Floating point operations as they are read: `151 MFLOP`."""
    return _scaled(count, "FLOP")


def size(count: int) -> str:
    """Bytes as they are read: `4.72 MB`."""
    return _scaled(count, "B")


def _scaled(value: float, unit: str) -> str:
    for prefix in ("", "k", "M", "G", "T"):
        if abs(value) < 1000 or prefix == "T":
            return f"{value:.4g} {prefix}{unit}"
        value /= 1000
    raise AssertionError("the loop ends at T")
