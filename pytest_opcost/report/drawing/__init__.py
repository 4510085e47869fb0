"""A step's data flow as pictures, for a page, a document or TensorBoard. Needs matplotlib and networkx."""

from pytest_opcost.report.drawing.flow import flow_figure
from pytest_opcost.report.drawing.phases import phases_figure

__all__ = ["flow_figure", "phases_figure"]
