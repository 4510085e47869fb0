"""What is done with tests that take opcost's fixtures, while they are collected and set up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_opcost.options import Options


def parametrize(metafunc: pytest.Metafunc, options: Options) -> None:
    """A test for each device and batch size, of those of the two that it takes and does not set itself."""
    own = {name for mark in metafunc.definition.iter_markers("parametrize") for name in _argnames(mark)}
    for fixture, values in (("opcost_device", options.devices), ("opcost_batch_size", options.batch_sizes)):
        if fixture in metafunc.fixturenames and fixture not in own:
            metafunc.parametrize(fixture, values, indirect=True, scope="session")


def _argnames(mark: pytest.Mark) -> list[str]:
    names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def parameter_of(request: pytest.FixtureRequest) -> Any:
    """The parameter that such a fixture has in this test; fails the test where it has none."""
    if hasattr(request, "param"):
        return request.param
    name = request.fixturename
    return pytest.fail(
        f"{name} is a parameter of the test, and this one does not take it by its name, or cannot have parameters.\n"
        f"Expected: a function, or a method of a class that is no unittest.TestCase, with {name} among its arguments "
        "or those of its fixtures.",
        pytrace=False,
    )
