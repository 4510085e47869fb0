"""pytest-randomly, pytest-timeout and pytest-xdist: rounds draw what the run draws, and end when it does."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from integration.project import summary, told

if TYPE_CHECKING:
    from .beside import Beside


def test_a_shuffled_suite_finds_the_same_drift(beside: Beside) -> None:
    beside.suite.checks(*(f"test_{letter}" for letter in "abcdef"))
    before = beside.record()
    beside.drifts(test="test_c")
    beside.plugins("pytest-randomly")

    result = beside.run("--opcost", "-v", "-p", "randomly", "-p", "no:cacheprovider", "--randomly-seed=1")

    result.assert_outcomes(passed=6, failed=1)
    assert "opcost: 6 passed, 1 drifted" in summary(result)
    ran = [line.split()[0] for line in result.outlines if line.endswith("%]")]
    assert ran != sorted(ran)
    assert beside.suite.files() == before


def test_a_round_draws_what_the_run_draws(beside: Beside) -> None:
    beside.record()
    beside.drifts()
    beside.suite.write(
        "test_model.py",
        "import random\n\n\ndef test_model(opcost, step):\n    with open('drawn', 'a') as file:\n"
        "        file.write(f'{random.random()}\\n')\n    opcost.check(step)\n",
    )
    beside.plugins("pytest-randomly")

    beside.run("--opcost").assert_outcomes(failed=1)

    drawn = (beside.path / "drawn").read_text().split()
    assert len(drawn) == 5
    assert len({*drawn}) == 1


@pytest.mark.parametrize("method", ["signal", "thread"])
def test_a_timeout_ends_its_round_too(beside: Beside, method: str) -> None:
    beside.record()
    beside.drifts()
    beside.suite.write(
        "test_model.py",
        "import os\nimport time\nfrom pathlib import Path\n\n\ndef test_model(opcost, step):\n"
        "    if Path('begun').exists():\n        Path('round').write_text(str(os.getpid()))\n        time.sleep(600)\n"
        "    Path('begun').touch()\n    opcost.check(step)\n",
    )
    beside.plugins("pytest-timeout")

    result = beside.run("--opcost", "--timeout=5", f"--timeout-method={method}")

    assert "Timeout" in result.stdout.str() + result.stderr.str()
    if method == "signal":  # the other one ends the whole run
        result.assert_outcomes(failed=1)
    pid = int((beside.path / "round").read_text())
    until = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()


def test_workers_measure_and_find_the_drift(beside: Beside) -> None:
    beside.suite.checks("test_two", "test_three")
    before = beside.record()
    beside.drifts(test="test_two")
    beside.plugins("pytest-xdist", "pytest-randomly", "pytest-cov", "pytest-html", "pytest-rerunfailures")

    result = beside.run("--opcost", "-n2")

    result.assert_outcomes(passed=2, failed=1)
    assert "opcost: 2 passed, 1 drifted" in summary(result)
    assert "measured 6 times" in told(result)
    assert beside.suite.files() == before
