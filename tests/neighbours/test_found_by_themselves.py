"""All neighbours at once, as pytest finds them by itself, in its own order."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from integration.project import failure, summary

from .beside import NEIGHBOURS, installed

if TYPE_CHECKING:
    import pytest

    from .beside import Beside


def _run(beside: Beside, monkeypatch: pytest.MonkeyPatch, *args: str) -> pytest.RunResult:
    installed([*NEIGHBOURS])
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    beside.suite.ini("asyncio_default_fixture_loop_scope = function")
    return beside.suite.pytester.run(sys.executable, "-m", "pytest", *args)


def test_start_and_skip(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    result = _run(beside, monkeypatch)

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["plugins: *opcost-*"])


def test_a_drift_is_confirmed(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    before = beside.record()
    beside.drifts()

    result = _run(beside, monkeypatch, "--opcost", "--strict-markers", "--strict-config")

    result.assert_outcomes(failed=1)
    assert "measured 6 times" in failure(result)
    assert beside.suite.files() == before


def test_with_workers_coverage_reruns_and_repetitions(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    before = beside.record()
    beside.drifts()

    # Of a worker's threads pytest-torch asks torch, which is not here.
    options = ("-n2", "--cov=.", "--reruns=1", "--count=2", "--timeout=100", "--torch-num-threads=none")
    result = _run(beside, monkeypatch, "--opcost", *options)

    assert result.parseoutcomes()["failed"] == 2
    assert result.parseoutcomes()["rerun"] == 2
    assert "opcost: 2 drifted" in summary(result)
    assert beside.suite.files() == before
