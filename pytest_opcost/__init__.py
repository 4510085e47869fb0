"""Operator-cost regression for PyTorch: record what a model's operators cost, and fail the test whose costs drift."""

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
