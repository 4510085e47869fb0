"""Calling the user's step: alone, since a traceback and a source line end at this file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.errors import MeasureError

if TYPE_CHECKING:
    from collections.abc import Callable


def call(step: Callable[[], object]) -> None:
    """Run the step once; raises MeasureError, from the step's own error, where it raises one."""
    __tracebackhide__ = True
    try:
        step()
    except Exception as error:
        raise MeasureError(
            f"the step raised {type(error).__name__}: {error}\n"
            "Expected: a step that can be called again and again. Nothing was recorded, no baseline was touched."
        ) from error
