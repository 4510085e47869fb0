"""Which tests this process collected, and of which files and classes it knows all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_opcost.items import own_parameters, test_id

if TYPE_CHECKING:
    from collections.abc import Generator


class Collected:
    """A plugin of its own, which only listens.

    `tests` maps ids to whether opcost's own options decide their parameters. `known` has the same of all tests in a
    file or class, by its id, also where the run takes only some of them.
    """

    def __init__(self) -> None:
        self.tests: dict[str, bool] = {}
        self.known: dict[str, dict[str, bool]] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if report.passed:
            items = [node for node in report.result if isinstance(node, pytest.Item)]
            self.known[collector.nodeid] = {test_id(item): own_parameters(item) for item in items}
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.tests = {test_id(item): own_parameters(item) for item in items}  # before anybody deselects
