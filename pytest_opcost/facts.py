"""What is exact about one operator in one step: it holds without noise, so it is compared by equality."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: What was seen, and how often in a step, most often first.
Counts: TypeAlias = tuple[tuple[str, int], ...]

#: The facts that are compared, in the order in which they are told: a change explains those behind it.
COMPARED = ("inputs", "flops", "kernels", "syncs", "alloc_bytes")

#: A baseline keeps so many places of an operator, the first.
MOST_PLACES = 6


@dataclass(frozen=True, slots=True)
class Place:
    """Where an operator was called: the phase (`forward`, `backward`, `optimizer`, `other`), the module's path in the
    model (the class's name for the model itself, empty outside of modules), and the user's source line.

    A backward operator has the module and the line of its forward.
    """

    phase: str
    module: str = ""
    line: str = ""


@dataclass(frozen=True, slots=True)
class OpFacts:
    """The exact facts of one operator in one step.

    `inputs` are the calls' input tensors (`f32[16,1,28,28] f32[32,1,3,3] f32[32]`) and `kernels` what was launched: the
    names of device kernels and memory transfers on an accelerator, oneDNN's primitives with their implementation and
    MKL's routines on a CPU. `flops` are floating point operations, two for each multiply-add; `alloc_bytes` what the
    operator itself allocated; `syncs` how often it made the host wait for the device. `varying` names the facts that
    are not the same at every step, which are not compared.
    """

    inputs: Counts = ()
    flops: int = 0
    kernels: Counts = ()
    syncs: int = 0
    alloc_bytes: int = 0
    places: tuple[Place, ...] = ()
    varying: tuple[str, ...] = ()


def counted(items: Iterable[str]) -> Counts:
    """How often each item occurs, most often first, equals in the order of their names."""
    return in_order(Counter(items).items())


def in_order(pairs: Iterable[tuple[str, int]]) -> Counts:
    """The pairs, the most frequent first, equals in the order of their names: equal counts are equal tuples."""
    found = list(pairs)
    return tuple(sorted(found, key=lambda pair: (-pair[1], pair[0])) if len(found) > 1 else found)


def agreed(seen: Sequence[OpFacts]) -> OpFacts:
    """The facts of one operator in several steps as one: what differs is marked as varying, all variants kept."""
    first, *rest = seen
    rest = [facts for facts in rest if facts is not first]
    if not rest:
        return first
    varying = {name for facts in seen for name in facts.varying}
    varying |= {name for name in COMPARED if any(getattr(facts, name) != getattr(first, name) for facts in rest)}
    if not varying:
        return first
    return replace(
        first,
        inputs=_variants([facts.inputs for facts in seen]),
        kernels=_variants([facts.kernels for facts in seen]),
        varying=tuple(name for name in COMPARED if name in varying),
    )


def _variants(seen: Sequence[Counts]) -> Counts:
    """Everything that was seen in any step, with the most that it was seen in one."""
    most: dict[str, int] = {}
    for counts in seen:
        for name, count in counts:
            most[name] = max(most.get(name, 0), count)
    return in_order(most.items())


def brief(counts: Counts) -> Counts:
    """The same as one digest, `#1a2b3c4d`, and the total: enough to compare with. What is brief stays as it is."""
    if len(counts) == 1 and counts[0][0].startswith("#"):
        return counts
    text = " | ".join(f"{count} {name}" for name, count in counts)
    return ((f"#{digest(text)}", sum(count for _, count in counts)),)


def same(one: Counts, other: Counts) -> bool:
    """Whether two counts are equal, either of which may be a brief one."""
    return one == other or brief(one) == other or one == brief(other)


def digest(text: str, length: int = 8) -> str:
    """A short name for a long text: the first hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:length]
