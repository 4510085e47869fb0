"""`async def` tests: with pytest-asyncio or anyio a check works as in any other test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from integration.project import failure, summary

if TYPE_CHECKING:
    from .beside import Beside

_ASYNC = """
import pytest


@pytest.mark.{mark}
async def test_model(opcost, step):
    opcost.check(step)
"""


@pytest.mark.parametrize(("neighbour", "mark"), [("pytest-asyncio", "asyncio"), ("anyio", "anyio")])
def test_a_check_in_a_coroutine_is_compared_and_confirmed(beside: Beside, neighbour: str, mark: str) -> None:
    beside.record()
    beside.suite.write("test_model.py", _ASYNC.format(mark=mark))
    if mark == "anyio":
        beside.suite.write(
            "conftest.py",
            (beside.path / "conftest.py").read_text()
            + "\n\n@pytest.fixture(scope='session')\ndef anyio_backend():\n    return 'asyncio'\n",
        )
    beside.plugins(neighbour)

    result = beside.run("--opcost")
    result.assert_outcomes(passed=1)
    assert "opcost: 1 passed" in summary(result)

    beside.drifts()
    result = beside.run("--opcost")
    result.assert_outcomes(failed=1)
    assert "measured 6 times" in failure(result)


def test_without_opcost_it_is_skipped(beside: Beside) -> None:
    beside.suite.write("test_model.py", _ASYNC.format(mark="asyncio"))
    beside.plugins("pytest-asyncio")

    beside.run().assert_outcomes(skipped=1)


def test_a_step_that_is_a_coroutine_is_refused(beside: Beside) -> None:
    beside.suite.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.asyncio\nasync def test_model(opcost):\n    async def step():\n        pass\n"
        "\n    opcost.check(step)\n",
    )
    beside.plugins("pytest-asyncio")

    result = beside.run("--opcost")

    result.assert_outcomes(failed=1)
    assert "OptionError: opcost.check in test_model.py::test_model: the step is a coroutine function" in failure(result)
    assert beside.suite.files() == {}


def test_a_check_for_every_example_of_hypothesis_has_its_own_name(beside: Beside) -> None:
    beside.suite.write(
        "test_model.py",
        "from hypothesis import HealthCheck, given, settings, strategies\n\n\n"
        "@given(strategies.sampled_from([1, 2, 3]))\n"
        "@settings(database=None, suppress_health_check=list(HealthCheck), deadline=None)\n"
        "def test_model(opcost, step, number):\n    opcost.check(step, name=str(number))\n",
    )
    beside.plugins("hypothesis")

    result = beside.run("--opcost", "--opcost-rounds=0")

    result.assert_outcomes(passed=1)
    assert len(beside.suite.files()) == 3
    assert "opcost: 3 recorded" in summary(result)
