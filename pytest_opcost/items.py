"""What a test says of itself to pytest: its id, its device and batch size, the fixtures that it takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_opcost.results import Subject

if TYPE_CHECKING:
    import pytest

    from pytest_opcost.options import Options

#: What pytest-repeat adds to a test's parameters: which time this is, from 0.
_REPETITION = "__pytest_repeat_step_number"


def takes(item: pytest.Item, fixture: str) -> bool:
    """Whether a test takes this fixture, itself or by another."""
    return fixture in getattr(item, "fixturenames", ())


def marked_in_vain(item: pytest.Item) -> bool:
    """Whether a test bears the `opcost` marker itself and takes nothing that could measure or train.

    The marker of a class or module is the default of those of its tests that do.
    """
    marked = any(mark.name == "opcost" for mark in item.own_markers)
    return marked and not takes(item, "opcost") and not takes(item, "lenet_training")


def own_parameters(item: pytest.Item) -> bool:
    """Whether opcost itself parametrizes the test, so that its id depends on the options."""
    return takes(item, "opcost_device") or takes(item, "opcost_batch_size")


def test_id(item: pytest.Item) -> str:
    """The test's id, without the group that pytest-xdist puts behind it, and which of pytest-repeat's times it is."""
    test = "".join(item.nodeid.rpartition(f"::{item.name}")[:2])
    if (time := _params(item).get(_REPETITION)) is None:
        return test
    return re.sub(rf"(-|(?<=\[)){time + 1}-\d+\]$", "]", test).removesuffix("[]")


def _params(item: pytest.Item) -> dict[str, Any]:
    params: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    return params


def device_of(item: pytest.Item, options: Options) -> str:
    """The device that a test measures on."""
    return str(_params(item).get("opcost_device", options.devices[0]))


def subject_of(item: pytest.Item, options: Options) -> Subject:
    """What a test checks: its id, the id without its configuration, and the configuration."""
    params, test, device = _params(item), test_id(item), device_of(item, options)
    batch_size = params.get("opcost_batch_size")
    own = {str(value) for value in (params.get("opcost_device"), batch_size) if value is not None}
    base, bracket, ids = test.partition("[")
    rest = [part for part in ids.rstrip("]").split("-") if part not in own] if bracket else []
    family = base + (f"[{'-'.join(rest)}]" if rest else "")
    needed = options.needed(params.get("opcost_device"), batch_size, mnist=takes(item, "mnist"))
    return Subject(test, None, family, device, batch_size, needed)
