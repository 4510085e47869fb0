"""What other plugins write is written by the run alone: rounds, which run the same tests, leave it as it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from integration.project import failure

if TYPE_CHECKING:
    from .beside import Beside


@pytest.fixture
def drifting(beside: Beside) -> Beside:
    """A project whose check has to be confirmed in fresh processes."""
    beside.record()
    beside.drifts()
    return beside


def _confirmed(result: pytest.RunResult) -> None:
    result.assert_outcomes(failed=1)
    assert "measured 6 times" in failure(result)


def test_coverage_is_that_of_the_run(drifting: Beside) -> None:
    drifting.suite.write("model.py", "def forward():\n    return 1\n\n\ndef unused():\n    return 2\n")
    drifting.suite.write(
        "test_model.py",
        "import model\n\n\ndef test_model(opcost, step):\n    model.forward()\n    opcost.check(step)\n",
    )
    drifting.plugins("pytest-cov")

    result = drifting.run("--opcost", "--cov=model", "--cov-report=term", "--cov-report=json")

    _confirmed(result)
    result.stdout.re_match_lines([r"model.py +4 +1 +75%"])
    assert json.loads((drifting.path / "coverage.json").read_text())["totals"]["missing_lines"] == 1
    assert [path.name for path in drifting.path.glob(".coverage*")] == [".coverage"]


def test_the_page_of_pytest_html_has_the_drift(drifting: Beside) -> None:
    drifting.suite.write("test_other.py", "def test_other():\n    pass\n")
    drifting.plugins("pytest-html")

    result = drifting.run("--opcost", "--html=report.html", "--self-contained-html")

    result.assert_outcomes(passed=1, failed=1)
    page = (drifting.path / "report.html").read_text()
    assert "2,400 us a step, was 1,500 us" in page
    assert "test_other.py::test_other" in page


def test_benchmarks_are_written_once(drifting: Beside) -> None:
    drifting.suite.write(
        "test_model.py",
        "def test_model(opcost, step, benchmark):\n    benchmark.pedantic(int, rounds=2)\n    opcost.check(step)\n",
    )
    drifting.plugins("pytest-benchmark")

    result = drifting.run("--opcost", "--benchmark-autosave", "--benchmark-json=bench.json")

    _confirmed(result)
    assert len(list((drifting.path / ".benchmarks").rglob("*.json"))) == 1
    assert len(json.loads((drifting.path / "bench.json").read_text())["benchmarks"]) == 1


def test_snapshots_of_syrupy_are_updated_by_the_run(drifting: Beside) -> None:
    drifting.suite.write(
        "test_model.py",
        "from pathlib import Path\n\n\ndef test_model(opcost, step, snapshot):\n    try:\n        opcost.check(step)\n"
        "    finally:\n        (path,) = Path('__snapshots__').glob('*.ambr')\n"
        "        Path('seen').write_text(path.read_text())\n        assert 5 == snapshot\n\n\n"
        "def test_other(snapshot):\n    assert 6 == snapshot\n",
    )
    drifting.plugins("syrupy")
    drifting.run("--snapshot-update", "-k", "other").assert_outcomes(passed=1)
    (path,) = drifting.path.glob("__snapshots__/*.ambr")
    before = path.read_text()

    result = drifting.run("--opcost", "--snapshot-update")

    result.assert_outcomes(passed=1, failed=1)
    assert "measured 6 times" in failure(result)
    assert (drifting.path / "seen").read_text() == before
    assert "test_model" in path.read_text()
    assert "test_other" in path.read_text()


def test_a_snapshot_that_the_run_has_only_in_mind_fails_a_round_and_that_is_said(drifting: Beside) -> None:
    drifting.suite.write(
        "test_model.py",
        "def test_model(opcost, step, snapshot):\n    assert 5 == snapshot\n    opcost.check(step)\n",
    )
    drifting.plugins("syrupy")

    result = drifting.run("--opcost", "--snapshot-update")

    result.assert_outcomes(failed=1)
    assert "RoundError" in failure(result)
    assert "--opcost-confirm=0" in failure(result)
    drifting.run("--opcost").assert_outcomes(failed=1)
    result = drifting.run("--opcost")
    assert "measured 6 times" in failure(result)


def test_inline_snapshots_are_written_into_the_source_by_the_run(drifting: Beside) -> None:
    text = (
        "from pathlib import Path\n\nfrom inline_snapshot import snapshot\n\n\ndef test_model(opcost, step):\n"
        "    try:\n        opcost.check(step)\n    finally:\n"
        "        Path('seen').write_text(Path(__file__).read_text())\n        assert 5 == snapshot()\n"
    )
    drifting.suite.write("test_model.py", text)
    drifting.plugins("inline-snapshot")

    result = drifting.run("--opcost", "--inline-snapshot=create")

    assert result.parseoutcomes()["failed"] == 1
    assert "measured 6 times" in result.stdout.str()
    assert (drifting.path / "seen").read_text() == text
    assert (drifting.path / "test_model.py").read_text() == text.replace("== snapshot()", "== snapshot(5)")


def test_a_mock_holds_in_a_round(drifting: Beside) -> None:
    drifting.suite.write("model.py", "def width():\n    raise AssertionError('no such model here')\n")
    drifting.suite.write(
        "test_model.py",
        "import model\n\n\ndef test_model(opcost, step, mocker):\n    mocker.patch('model.width', return_value=1)\n"
        "    model.width()\n    opcost.check(step)\n",
    )
    drifting.plugins("pytest-mock")

    _confirmed(drifting.run("--opcost"))
