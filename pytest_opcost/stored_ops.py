"""Operators and their facts in a baseline's text, as `storage` writes them, several times as fast as by YAML.

Whatever is written otherwise, say by hand, is left to YAML: a text is either read as YAML reads it, or not at all.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from pytest_opcost.costs import OpCost
from pytest_opcost.facts import OpFacts, Place, in_order

if TYPE_CHECKING:
    from pytest_opcost.facts import Counts

_WORD = r"[A-Za-z_(][\w.+/()<>=*&#-]*(?: [\w+/()<>=*&-][\w.+/()<>=*&#-]*)*"
#: YAML reads no longer key than 1,024.
_QUOTED = r"'[^']{0,1000}'"
_TEXT = rf"(?:{_QUOTED}|{_WORD})"
#: Text outside of brackets may hold more, as names of operators do.
_KEY = rf"(?:{_QUOTED}|[A-Za-z_](?:[\w.]|::(?=\w)){{0,1000}})"
_COUNT = r"(?:0|[1-9]\d{0,14})"
_NUMBER = rf"{_COUNT}(?:\.\d{{1,9}})?"
_NUMBERS = rf"\[({_NUMBER}(?:, {_NUMBER})*)\]"
_TEXTS = rf"\[({_TEXT}(?:, {_TEXT})*)\]"
_COUNTED = rf"{_TEXT}: {_COUNT}"
_COUNTS = rf"\{{({_COUNTED}(?:, {_COUNTED})*)\}}"
#: What stands behind a field: a comma, or the mapping's end.
_NEXT = r"(?:, (?!\})|(?=\}))"

_OP = re.compile(
    rf"  - \{{op: ({_TEXT}), family: ({_WORD}), calls: ({_COUNT}), self_host_us: ({_NUMBER}), "
    rf"self_device_us: ({_NUMBER}), share: ({_NUMBER})(?:, forward: ({_NUMBER}))?(, varying: true)?"
    rf"(?:, samples: {_NUMBERS})?\}}"
)
_FACTS = re.compile(
    rf"  ({_KEY}): \{{(?:flops: ({_COUNT}){_NEXT})?(?:alloc_bytes: ({_COUNT}){_NEXT})?(?:syncs: ({_COUNT}){_NEXT})?"
    rf"(?:kernels: {_COUNTS}{_NEXT})?(?:inputs: {_COUNTS}{_NEXT})?(?:varying: {_TEXTS}{_NEXT})?(?:at: {_TEXTS})?\}}"
)
_COUNTED_PAIR = re.compile(rf"({_TEXT}): ({_COUNT})")
_EACH_TEXT = re.compile(_TEXT)
_OPS, _FACTS_BELOW = "\nops:\n", "\nfacts:\n"


class _Unusual(ValueError):
    """The text is not as this package writes it."""


def read(text: str) -> tuple[str, tuple[OpCost, ...]] | None:
    """What stands before the operators, and the operators; None where these are not written as this package writes."""
    head, found, rest = text.partition(_OPS)
    rows, _, below = rest.partition(_FACTS_BELOW)
    # Neither a character that YAML refuses nor the end of a document, after which another begins.
    if not found or not text.replace("\n", "").isprintable() or re.search(r"^(---|\.\.\.)", head, re.MULTILINE):
        return None
    told = _lines(below)
    try:
        facts = dict(map(_facts, told))
        ops = tuple([_op(line, facts) for line in _lines(rows)])
    except _Unusual:
        return None
    # No operator may stand there twice; YAML says so of their facts.
    unique = len({op.name for op in ops}) == len(ops) and len(facts) == len(told)
    return (f"{head}\n", ops) if ops and unique else None


def _lines(block: str) -> list[str]:
    """Those that are no comments."""
    return [line for line in block.split("\n") if line and line.lstrip(" ")[:1] != "#"]


def _op(line: str, facts: dict[str, OpFacts]) -> OpCost:
    if (found := _OP.fullmatch(line)) is None:
        raise _Unusual
    name, family, calls, host_us, device_us, share, forward, varying, samples = found.groups()
    return OpCost(
        name=(name := _text(name)),
        family=_text(family),
        calls=int(calls),
        self_host_us=float(host_us),
        self_device_us=float(device_us),
        share=float(share),
        forward=1.0 if forward is None else float(forward),
        varying=varying is not None,
        samples=() if samples is None else tuple(map(float, samples.split(", "))),
        facts=facts.get(name),
    )


@lru_cache(maxsize=2048)
def _facts(line: str) -> tuple[str, OpFacts]:
    """The operator's name and its facts: one object for equal lines, which are then equal at a glance."""
    if (found := _FACTS.fullmatch(line)) is None:
        raise _Unusual
    name, flops, alloc_bytes, syncs, kernels, inputs, varying, at = found.groups()
    return _text(name), OpFacts(
        inputs=_counts(inputs),
        flops=int(flops or 0),
        kernels=_counts(kernels),
        syncs=int(syncs or 0),
        alloc_bytes=int(alloc_bytes or 0),
        places=_places(at),
        varying=tuple(_texts(varying)),
    )


@lru_cache(maxsize=2048)
def _counts(pairs: str | None) -> Counts:
    if pairs is None:
        return ()
    counts = [(_text(name), int(count)) for name, count in _COUNTED_PAIR.findall(pairs)]
    if len(dict(counts)) != len(counts):
        raise _Unusual  # YAML says which one stands twice
    return in_order(counts)


def _texts(texts: str | None) -> list[str]:
    return [_text(one) for one in _EACH_TEXT.findall(texts or "")]


@lru_cache(maxsize=256)
def _places(texts: str | None) -> tuple[Place, ...]:
    return tuple([place_of(place) for place in _texts(texts)])


@lru_cache(maxsize=256)
def place_of(text: str) -> Place:
    """A place as a baseline has it, its phase and its module: `forward conv1`."""
    phase, _, module = text.partition(" ")
    return Place(phase, module)


@lru_cache(maxsize=4096)
def _text(text: str) -> str:
    """What YAML takes quoted text, or a plain word, for, if that is text."""
    if text[0] == "'" and len(text) > 2:
        return text[1:-1]
    import yaml

    if text[0] == "'" or _resolver().resolve(yaml.ScalarNode, text, (True, False)) != "tag:yaml.org,2002:str":
        raise _Unusual
    return text


@cache
def _resolver() -> Any:
    import yaml

    return yaml.resolver.Resolver()
