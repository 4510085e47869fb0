"""Beside every other plugin, loaded before opcost or behind it: start, collect, skip, measure, find a drift."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from integration.project import failure, summary, told

from .beside import NEIGHBOURS

if TYPE_CHECKING:
    from .beside import Beside

pytestmark = pytest.mark.parametrize("first", [True, False], ids=["before", "behind"])

_EACH = [[name] for name in NEIGHBOURS]
_ALL = pytest.param([*NEIGHBOURS], id="all")


@pytest.mark.parametrize("neighbours", [*_EACH, _ALL], ids=lambda names: names[0])
def test_without_opcost_its_tests_are_collected_and_skipped(beside: Beside, neighbours: list[str], first: bool) -> None:
    beside.plugins(*neighbours, first=first)
    beside.suite.write("test_other.py", "def test_other():\n    pass\n")

    result = beside.run("-rs")

    result.assert_outcomes(passed=1, skipped=1)
    assert "measures operator costs: needs --opcost" in told(result)
    assert result.stderr.str() == ""
    assert result.ret == 0


@pytest.mark.parametrize("neighbours", [*_EACH, _ALL], ids=lambda names: names[0])
def test_what_holds_passes_and_a_drift_is_confirmed_in_fresh_processes(
    beside: Beside, neighbours: list[str], first: bool
) -> None:
    beside.suite.checks("test_two")
    before = beside.record()
    beside.drifts(test="test_two")
    beside.plugins(*neighbours, first=first)

    result = beside.run("--opcost")

    result.assert_outcomes(passed=1, failed=1)
    assert "opcost: 1 passed, 1 drifted" in summary(result)
    message = failure(result)
    assert "test_more.py::test_two drifted from its baseline, measured 6 times:" in message
    assert "- aten::gelu (elementwise): 2,400 us a step, was 1,500 us (+60 %)" in message
    assert beside.suite.files() == before
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("neighbours", [_ALL])
def test_beside_all_of_them_fresh_processes_record(beside: Beside, neighbours: list[str], first: bool) -> None:
    beside.plugins(*neighbours, first=first)

    beside.run("--opcost", "--opcost-rounds=2").assert_outcomes(passed=1)

    (text,) = beside.suite.files().values()
    assert text.count("4000, 4000") == 1
