"""Records -> matplotlib figures for every report that shows pictures."""

from pytest_opcost.report.charts.bars import operator_bars
from pytest_opcost.report.charts.changes import change_chart
from pytest_opcost.report.charts.cold import cold_chart
from pytest_opcost.report.charts.ratio import ratio_curve
from pytest_opcost.report.charts.training import training_curves

__all__ = ["change_chart", "cold_chart", "operator_bars", "ratio_curve", "training_curves"]
