"""Operator-cost regression for PyTorch: record what a model's operators cost, and fail the test whose costs drift."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_opcost.errors import (
        BaseError,
        BaselineError,
        DataError,
        DeviceError,
        DriftError,
        MeasureError,
        OpcostError,
        OptionError,
        RoundError,
        TurnError,
    )

__version__ = "0.1.0"

__all__ = [
    "BaseError",
    "BaselineError",
    "DataError",
    "DeviceError",
    "DriftError",
    "MeasureError",
    "OpcostError",
    "OptionError",
    "RoundError",
    "TurnError",
]


def __getattr__(name: str) -> object:
    """The errors, when they are first asked for: every pytest run loads this file, and seldom needs one."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pytest_opcost import errors

    return getattr(errors, name)
