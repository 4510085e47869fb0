"""Profiles that were taken elsewhere: printed tables, traces and torch's own profiler objects -> `CostProfile`s."""

from pytest_opcost.imports.live import from_profiler

__all__ = ["from_profiler"]
