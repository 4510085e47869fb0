"""Names of pages and anchors: made from untrusted ids, safe in a file system and in a link, the same in every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.costs import slug
from pytest_opcost.facts import digest

if TYPE_CHECKING:
    from pytest_opcost.report.grouping import Group
    from pytest_opcost.results import Subject

_LONGEST = 60


def page_of(group: Group) -> str:
    """The page of one group of tests."""
    return f"{_readable(group.title)}.html"


def trace_of(subject: Subject) -> str:
    """The trace of one configuration."""
    return f"traces/{_readable(subject.title)}.json.gz"


def anchor_of(subject: Subject) -> str:
    """The id of a test's section, and of its row in the overview."""
    return f"test-{digest(subject.title)}"


def _readable(title: str) -> str:
    name = slug(title.rpartition("/")[2])[:_LONGEST].strip("-.")
    return f"{name}-{digest(title)}"
