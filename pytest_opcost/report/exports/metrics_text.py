"""OpenMetrics' text: families of gauges, samples with labels. What is in a label cannot end it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost.report.saving import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Sample:
    """One figure and the labels that tell it from others of its family; labels that are None are left out."""

    value: float
    labels: dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Family:
    """A metric: its name, which ends in its unit where it has one, its type, what it means, and its samples."""

    name: str
    about: str
    samples: Sequence[Sample]
    unit: str = ""
    kind: str = "gauge"
    #: What the names of samples end in beyond the family's.
    suffix: str = ""


def metrics_text(families: Iterable[Family]) -> str:
    """The families as text, those without samples left out."""
    return "".join(f"{line}\n" for family in families if family.samples for line in _lines(family)) + "# EOF\n"


def _lines(family: Family) -> Iterator[str]:
    yield f"# TYPE {family.name} {family.kind}"
    if family.unit:
        yield f"# UNIT {family.name} {family.unit}"
    yield f"# HELP {family.name} {family.about}"
    for sample in family.samples:
        labels = ",".join(f'{name}="{_escaped(text)}"' for name, text in sample.labels.items() if text is not None)
        yield f"{family.name}{family.suffix}{{{labels}}} {sample.value:.10g}"


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    # A carriage return has no escape, and ends a line for some readers.
    return "\\n".join(map(printable, text.split("\n")))
