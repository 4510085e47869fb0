"""What a marker or a call may set for one test -> frozen options, over the defaults of the run."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from pytest_opcost import values
from pytest_opcost.errors import OptionError
from pytest_opcost.families import DEFAULT_RATIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pytest


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What a marker or a call of `opcost.check` may set for one test; command line and ini file set the defaults.

    `ratios` maps a declared ratio to its band (0.10 is +-10 %). `tolerance` is the least change of an operator that is
    worth telling, also relative, `floor` the same in microseconds a step; None leaves each to the kind of clock.
    `steps` None measures until there is enough to see. `on_drift` is `fail` or `report`, `fail_on` is `dearer`, or
    `drift` where cheaper operators fail too.
    """

    top: int = 10
    ratios: tuple[tuple[str, float | None], ...] = ((DEFAULT_RATIO, None),)
    tolerance: float | None = None
    floor: float | None = None
    warmup: int = 5
    steps: int | None = None
    on_drift: str = "fail"
    fail_on: str = "dearer"

    def updated(self, arguments: Mapping[str, object], where: str, *others: str) -> CheckOptions:
        """These options with some replaced; ratios are added to the declared ones.

        Raises OptionError, naming `where`, for an unknown argument or a value that is not valid. `others` are arguments
        that are taken there and are no options.
        """
        known = {f.name: _CHECKS[f.name] for f in fields(self)}
        if unknown := sorted(set(arguments) - set(known)):
            taken = [*others, *known]
            raise OptionError(
                f"{where}: unknown argument{'s' if len(unknown) > 1 else ''} {', '.join(unknown)}.\n"
                f"Expected: {', '.join(taken)}.{_closest(unknown, taken)}"
            )
        given = {name: value for name, value in arguments.items() if value is not None}
        values = {name: known[name](f"{where}: {name}", value) for name, value in given.items()}
        if "ratios" in values:
            values["ratios"] = tuple({**dict(self.ratios), **dict(values["ratios"])}.items())
        return replace(self, **values)


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "top": values.positive,
    "ratios": values.ratios,
    "tolerance": values.fraction,
    "floor": values.microseconds,
    "warmup": values.natural,
    "steps": values.positive,
    "on_drift": values.one_of("fail", "report"),
    "fail_on": values.one_of("dearer", "drift"),
}


def marker_options(item: pytest.Item, defaults: CheckOptions) -> CheckOptions:
    """The options of one test: its `opcost` markers, the closest last, over the defaults.

    Raises OptionError for a positional or unknown argument.
    """
    options = defaults
    for marker in reversed(list(item.iter_markers("opcost"))):
        where = f"@pytest.mark.opcost of {item.nodeid}"
        if marker.args:
            raise OptionError(f"{where}: takes keyword arguments only, found {marker.args[0]!r}.")
        options = options.updated(marker.kwargs, where)
    return options


def mistaken_marker(item: pytest.Item, defaults: CheckOptions) -> str:
    """What is wrong with the `opcost` markers of a test; empty where nothing is, and where it has none."""
    try:
        marker_options(item, defaults)
    except OptionError as error:
        return str(error)
    return ""


def _closest(unknown: Iterable[str], known: Iterable[str]) -> str:
    """Which names were probably meant, a line each; empty where none reads alike."""
    from difflib import get_close_matches

    pairs = ((name, match) for name in unknown for match in get_close_matches(name, [*known], n=1))
    return "".join(f"\nThe closest to {name} is {match}." for name, match in pairs)
