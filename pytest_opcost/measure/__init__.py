"""A step callable -> its `CostProfile`: warm-up, profiled steps, events to self times, and where they were measured."""

from pytest_opcost.measure.device_memory import fresh_memory
from pytest_opcost.measure.environment import environments_of
from pytest_opcost.measure.profile import Plan, measure

__all__ = ["Plan", "environments_of", "fresh_memory", "measure"]
