"""Plugins that run a test again: its checks are told once, and compared with the one baseline that it has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from integration.project import failures, summary

if TYPE_CHECKING:
    from .beside import Beside

_ONCE = """
from pathlib import Path


def test_model(opcost, step):
    opcost.check(step)
    first = not Path("again").exists()
    Path("again").touch()
    assert not first
"""


@pytest.mark.parametrize("args", [[], ["-n1"]], ids=["", "xdist"])
def test_a_test_that_passes_the_second_time_has_passed(beside: Beside, args: list[str]) -> None:
    beside.record()
    beside.suite.write("test_model.py", _ONCE)
    beside.plugins("pytest-rerunfailures", "pytest-xdist")

    result = beside.run("--opcost", "--reruns=2", "--opcost-json=out.json", *args)

    assert result.parseoutcomes() == {"passed": 1, "rerun": 1}
    assert "opcost: 1 passed" in summary(result)
    assert len(json.loads((beside.path / "out.json").read_text())["tests"]) == 1


def test_a_drift_fails_as_often_as_it_is_run_and_is_told_once(beside: Beside) -> None:
    before = beside.record()
    beside.drifts()
    beside.plugins("pytest-rerunfailures")

    result = beside.run("--opcost", "--reruns=1")

    assert result.parseoutcomes() == {"failed": 1, "rerun": 1}
    assert "opcost: 1 drifted" in summary(result)
    assert len(failures(result)) == 1
    assert beside.suite.files() == before


_MENDED = """
def pytest_runtest_logreport(report):
    if report.outcome == "rerun":
        Path("costs.json").write_text(Path("before.json").read_text())
"""


@pytest.mark.parametrize(("confirm", "ending"), [(12, "failed"), (0, "passed")])
def test_a_confirmed_drift_is_not_measured_until_it_passes(beside: Beside, confirm: int, ending: str) -> None:
    beside.record()
    costs, conftest = (beside.path / name for name in ("costs.json", "conftest.py"))
    (beside.path / "before.json").write_text(costs.read_text())
    beside.drifts()
    conftest.write_text(f"from pathlib import Path\n{conftest.read_text()}{_MENDED}")
    beside.plugins("pytest-rerunfailures")

    result = beside.run("--opcost", "--reruns=1", f"--opcost-confirm={confirm}")

    assert result.parseoutcomes() == {ending: 1, "rerun": 1}
    if confirm:
        assert "opcost: 1 drifted" in summary(result)
        assert "measured 6 times" in failures(result)[0]


def test_a_drift_is_not_run_again_where_that_is_said(beside: Beside) -> None:
    beside.record()
    beside.drifts()
    beside.plugins("pytest-rerunfailures")

    result = beside.run("--opcost", "--reruns=1", "--rerun-except=DriftError")

    assert result.parseoutcomes() == {"failed": 1}


def test_a_test_marked_as_flaky(beside: Beside) -> None:
    beside.record()
    beside.drifts()
    beside.suite.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.flaky(reruns=1)\ndef test_model(opcost, step):\n    opcost.check(step)\n",
    )
    beside.plugins("pytest-rerunfailures")

    result = beside.run("--opcost")

    assert result.parseoutcomes() == {"failed": 1, "rerun": 1}
    assert "measured 6 times" in failures(result)[0]


_PARAMETERS = (
    "import pytest\n\n\n@pytest.mark.parametrize('width', [1, 2])\ndef test_model(opcost, step, width):\n"
    "    opcost.check(step)\n"
)


@pytest.mark.parametrize("test", [None, _PARAMETERS], ids=["", "parameters"])
def test_every_repetition_is_compared_with_the_tests_own_baseline(beside: Beside, test: str | None) -> None:
    if test is not None:
        beside.suite.write("test_model.py", test)
    before = beside.record()
    beside.plugins("pytest-repeat")

    result = beside.run("--opcost", "--count=3", "--opcost-missing=fail", "--opcost-prune-baselines")

    result.assert_outcomes(passed=3 * len(before))
    assert f"opcost: {3 * len(before)} passed" in summary(result)
    assert beside.suite.files() == before


def test_a_repeated_test_that_drifts_fails_each_time(beside: Beside) -> None:
    before = beside.record()
    beside.drifts()
    beside.plugins("pytest-repeat")

    result = beside.run("--opcost", "--count=2")

    result.assert_outcomes(failed=2)
    assert all("test_model.py::test_model drifted" in message for message in failures(result))
    assert all("measured 6 times" in message for message in failures(result))
    assert beside.suite.files() == before


def test_a_test_marked_to_be_repeated_is_recorded_once(beside: Beside) -> None:
    beside.suite.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.repeat(2)\ndef test_model(opcost, step):\n    opcost.check(step)\n",
    )
    beside.plugins("pytest-repeat")

    result = beside.run("--opcost", "--opcost-rounds=4")

    result.assert_outcomes(passed=2)
    assert "opcost: 1 passed, 1 recorded" in summary(result)
    (path,) = beside.suite.files()
    assert path.name.startswith("test_model.py-test_model-")
