"""Running `opcost` in this process or in one of its own, and baselines and results to run it on."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_opcost import rendering, storage
from pytest_opcost.baselines import baseline_path, new_baseline
from pytest_opcost.costs import CostProfile, Environment, OpCost, with_ops
from pytest_opcost.families import family_of
from pytest_opcost.judge import Outcome, Verdict
from pytest_opcost.report.json import write_json
from pytest_opcost.results import CheckResult, RunResults, Subject
from pytest_opcost.shell.main import main

if TYPE_CHECKING:
    import pytest

MACHINE = Environment("cpu", "Chip A", "x86_64 AVX2", "2.9.1+cpu", 1, "quiet", (("mkldnn", "on"),), (("os", "Testix"),))
TEST = "test_model.py::test_model"
COSTS = {
    "aten::mkldnn_convolution": 4000.0,
    "aten::addmm": 1000.0,
    "aten::max_pool2d_with_indices": 900.0,
    "aten::relu": 700.0,
    "aten::bernoulli_": 500.0,
    "aten::_log_softmax": 400.0,
}


@dataclass(frozen=True, slots=True)
class Said:
    """What `opcost` said: its exit status, and the two streams."""

    status: int
    out: str
    err: str

    @property
    def told(self) -> str:
        """Both streams on one line: how it was wrapped does not matter."""
        return " ".join(f"{self.out} {self.err}".split())

    @property
    def data(self) -> Any:
        """What --json printed."""
        return json.loads(self.out)


def opcost(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Said:
    """`opcost ARGUMENTS`, in this process; every line fits 80 columns unless it holds a path or an id that does not."""
    capsys.readouterr()
    status = main([str(one) for one in arguments])
    said = Said(status, *capsys.readouterr())
    if "--json" not in arguments:
        for line in (*said.out.splitlines(), *said.err.splitlines()):
            assert len(line) <= 80 or " " not in line.strip(), line
    return said


COMMAND = (sys.executable, "-m", "pytest_opcost")


def outer_environment(**more: str) -> dict[str, str]:
    """The environment of a process that finds this package, wherever it runs."""
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}


def profile(environment: Environment = MACHINE, factor: float = 1.0, **changes: float | None) -> CostProfile:
    """`COSTS` as a profile, with some replaced by the ends of their names, None to leave one out."""
    costs = {name: next((us for end, us in changes.items() if name.endswith(end)), us) for name, us in COSTS.items()}
    ops = [OpCost(name, family_of(name), 1, us * factor, 0.0, 0.0) for name, us in costs.items() if us is not None]
    return with_ops(CostProfile(environment, 30, (), 1.1 * sum(op.self_host_us for op in ops), 0.0, 0.0), ops)


def baseline(
    root: Path, test: str = TEST, environment: Environment = MACHINE, rounds: int = 5, **changes: float | None
) -> Path:
    """Write a baseline of some rounds that differ by a few parts in a thousand."""
    measured = [profile(environment, 1 + 0.002 * turn, **changes) for turn in range(rounds)]
    path = baseline_path(root, environment.machine_key, test, None)
    storage.write(path, rendering.render(new_baseline(path, test, None, measured, ["conv/addmm"]), 10))
    return path


def results(path: Path, *tests: str, environment: Environment = MACHINE, **changes: float | None) -> Path:
    """Write the results of a run that measured each test once."""
    checks = [
        CheckResult(
            Subject(test, None, test.partition("[")[0], environment.device, None),
            profile(environment, **changes),
            Verdict(Outcome.PASSED),
            ratios={"conv/addmm": 4.0},
            baseline="",
            baseline_ratios={},
            compared=False,
            top=10,
        )
        for test in tests or (TEST,)
    ]
    write_json(path, RunResults([environment], checks, [], "2026-11-28T10:15:30+01:00"))
    return path


OTHER_TORCH = replace(MACHINE, torch="2.10.0+cpu")
OTHER_CHIP = replace(MACHINE, device_name="Chip B", capability="x86_64 AVX512")
OTHER_THREADS = replace(MACHINE, threads=4)
