"""What a run says on the terminal: a few lines below pytest's header, and a section at its end."""

from pytest_opcost.report.terminal.header import header_lines
from pytest_opcost.report.terminal.summary import Summary, summary_lines

__all__ = ["Summary", "header_lines", "summary_lines"]
