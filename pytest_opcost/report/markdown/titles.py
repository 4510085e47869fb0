"""Titles of the report's parts: a test with all of its configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.gfm import code, plain

if TYPE_CHECKING:
    from pytest_opcost.report.grouping import Group

#: What stands before the figure in a configuration's name.
SIZE = "batch size "


def titled(group: Group) -> str:
    """The test's id without its configuration, as code, with the check's name behind (Markdown)."""
    return code(group.family) + (f" ({plain(group.check)})" if group.check is not None else "")
