"""What the unit tests share."""

from __future__ import annotations

import pytest

from pytest_opcost.judge import cost


@pytest.fixture(autouse=True)
def _no_process_floor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records' costs are small: what processes may differ by has tests of its own, in `test_judge_process.py`."""
    if request.module.__name__.rpartition(".")[2] != "test_judge_process":
        monkeypatch.setattr(cost, "PROCESS_FLOOR_US", 0.0)
