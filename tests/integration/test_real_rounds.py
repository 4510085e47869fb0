"""LeNet in a fresh process: exactly the operators and facts that this process finds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_opcost import carried, plugin, rounds

from .project import INI

pytest.importorskip("torch")
pytest.importorskip("torchvision")
pytestmark = pytest.mark.usefixtures("warm_torch")

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile, OpCost
    from pytest_opcost.facts import OpFacts
    from pytest_opcost.results import CheckResult
    from pytest_opcost.rounds import Round

_TESTS = """
def test_train(opcost, lenet_step):
    opcost.check(lenet_step)
"""
_OPTIONS = "--opcost-mnist=sample --opcost-batch-size=4 --opcost-warmup=1 --opcost-steps=5 --opcost-missing=report"
_TEST = "test_lab.py::test_train[cpu-4]"


class Rounds:
    """Measures each test in this process, as usual, and after it in rounds."""

    def __init__(self) -> None:
        self.here: list[CheckResult] = []
        self.rounds: list[Round] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.here += carried.results_in(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        side, options = rounds.head_side(session.config), session.config.stash[plugin.OPTIONS]
        starts = [rounds.Start(side, [_TEST], exact=exact) for exact in (True, False)]
        self.rounds = [one for start in starts for one in rounds.run_together([start], options, timeout=300)]


@pytest.fixture
def measured(pytester: pytest.Pytester) -> Rounds:
    # torch.backends.mkldnn.flags itself warns where there is no Intel GPU.
    pytester.makeini(f"{INI}  ignore:TF32 acceleration:UserWarning\n")
    pytester.makepyfile(test_lab=_TESTS)
    both = Rounds()
    pytester.inline_run("--opcost", *_OPTIONS.split(), plugins=[both])
    return both


def test_a_round_finds_the_facts_that_the_run_finds(measured: Rounds) -> None:
    (result,) = measured.here
    whole, timed = measured.rounds

    assert [one.failures for one in measured.rounds] == [{}, {}]
    assert [list(one.profiles) for one in measured.rounds] == [[(_TEST, None)]] * 2
    here, there, brief = result.profile, whole.profiles[_TEST, None], timed.profiles[_TEST, None]
    assert here.flops > 0
    assert _facts(there) == _facts(here)
    assert there.environment == here.environment
    assert there.kernel_names == here.kernel_names
    assert there.steps == brief.steps == 5
    assert {name: op.calls for name, op in brief.by_name().items()} == {op.name: op.calls for op in here.ops}
    assert brief.flops == 0
    assert all(op.self_host_us > 0 for op in brief.ops if not op.waits)


def _facts(profile: CostProfile) -> dict[str, OpCost]:
    """The operators without their times."""
    no_times = {"self_host_us": 0, "inclusive_host_us": 0, "share": 0, "forward": 0}
    return {op.name: replace(op, facts=_in_files(op.facts), **no_times) for op in profile.ops}


def _in_files(facts: OpFacts | None) -> OpFacts | None:
    """The facts with file names alone: pytester has changed the folder that they are relative to."""
    if facts is None:
        return None
    return replace(facts, places=tuple(replace(one, line=one.line.rpartition("/")[2]) for one in facts.places))
