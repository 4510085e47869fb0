"""A suspicion is confirmed, or dropped, by fresh processes that run the test again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .fake_seam import LENET
from .project import failure, summary

if TYPE_CHECKING:
    import pytest

    from .project import Project

_NO_DRIFT = {"ops": LENET}
#: A step that writes down which process it runs in.
_COUNTING = """def run():
        import os
        with COSTS.with_name("pids").open("a") as file:
            file.write(f"{os.getpid()} ")
        fresh = len(set(COSTS.with_name("pids").read_text().split())) > 1"""


def _run(suite: Project, *lines: str, test: str | None = None) -> pytest.RunResult:
    """A drift of 40 % is suspected in a process of its own, in a project whose step does this besides."""
    if test is not None:
        suite.write("test_model.py", test)
    suite.record()
    suite.lenet(gelu=[2100.0, 3])
    body = "\n        ".join((_COUNTING, *lines))
    suite.write("conftest.py", (suite.path / "conftest.py").read_text().replace("def run():", body))
    return suite.pytester.run(sys.executable, "-m", "pytest", "--opcost")


def _pids(suite: Project) -> list[str]:
    return (suite.path / "pids").read_text().split()


def test_real_fresh_processes_confirm_a_drift(suite: Project) -> None:
    result = _run(suite)

    result.assert_outcomes(failed=1)
    assert "measured 6 times" in failure(result)
    assert "- aten::gelu (elementwise): 2,100 us a step, was 1,500 us (+40 %)" in failure(result)
    first, second, *fresh = _pids(suite)
    assert first == second
    assert len({first, *fresh}) == 1 + len(fresh) == 5


def test_a_process_measures_all_checks_of_its_test_for_all_of_them(suite: Project) -> None:
    checks = "".join(f"    opcost.check(step, name='{name}', on_drift='report')\n" for name in "ab")
    result = _run(suite, test=f"def test_model(opcost, step):\n{checks}")

    result.assert_outcomes(passed=1)
    assert "opcost: 2 drifted" in summary(result)
    here, *fresh = dict.fromkeys(_pids(suite))
    assert [_pids(suite).count(pid) for pid in (here, *fresh)] == [4, 2, 2, 2, 2]


def test_what_real_fresh_processes_do_not_show_passes(suite: Project) -> None:
    result = _run(suite, "if fresh:", f"    return {_NO_DRIFT!r}")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 passed" in summary(result)
    assert len(_pids(suite)) == 3


def test_a_fresh_process_that_fails_is_told_with_its_text(suite: Project) -> None:
    result = _run(suite, "assert not fresh, 'only once, please'")

    result.assert_outcomes(failed=1)
    message = failure(result)
    assert "RoundError: test_model.py::test_model could not be measured in a fresh process" in message
    assert "only once, please" in message
    assert "--opcost-confirm=0" in message
