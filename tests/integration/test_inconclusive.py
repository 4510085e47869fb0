"""What cannot be told at this noise passes, and says how large a change would have been seen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from .fake_seam import LENET
from .project import summary, told

if TYPE_CHECKING:
    from .project import Project


def test_a_noisy_baseline_says_what_it_would_have_seen(project: Project) -> None:
    def seen_from(*copies: float) -> float:
        project.write(
            "test_model.py",
            f"""
OPS = {LENET!r}
copies = iter({[700.0, *copies]})


def test_model(opcost):
    opcost.check(lambda: {{"ops": OPS | {{"aten::copy_": [next(copies), 2]}}}})
""",
        )
        project.run("--opcost-update-baselines").assert_outcomes(passed=1)
        project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step)\n")
        project.lenet(copy_=[700.0, 2])
        result = project.run("--opcost", "-v", "--opcost-json=out.json")
        result.assert_outcomes(passed=1)
        assert "would have looked closer at a change of: mkldnn_convolution" in told(result)
        (test,) = json.loads((project.path / "out.json").read_text())["tests"]
        return float(test["seen_from"]["aten::copy_"])

    assert seen_from(700.0, 700.0, 500.0, 900.0, 1100.0) > 1.3 * seen_from(700.0, 700.0, 700.0, 700.0, 700.0)


def test_what_may_be_noise_says_what_would_be_certain(project: Project) -> None:
    project.record()
    project.lenet(gelu=[1850.0, 3])

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 inconclusive" in summary(result)
    assert "aten::gelu (elementwise): 1,850 us a step, was 1,500 us (+23 %): may be noise, only a change above" in told(
        result
    )


def test_a_loaded_machine_sees_less(project: Project) -> None:
    project.record()

    def seen_from(load: float) -> float:
        project.costs(LENET, load=load)
        project.run("--opcost", "--opcost-json=out.json").assert_outcomes(passed=1)
        (test,) = json.loads((project.path / "out.json").read_text())["tests"]
        return float(test["seen_from"]["aten::mkldnn_convolution"])

    assert seen_from(1.0) > 1.2 * seen_from(0.0)


def test_a_drift_that_the_load_does_not_explain_fails_all_the_same(project: Project) -> None:
    project.record()
    project.costs({**LENET, "aten::gelu": [3000.0, 3]}, load=1.0)

    project.run("--opcost").assert_outcomes(failed=1)


@pytest.mark.parametrize(("rounds", "held", "says"), [(0, 1, True), (3, 3, True), (4, 4, False)])
def test_a_baseline_with_too_few_rounds_says_so(project: Project, rounds: int, held: int, *, says: bool) -> None:
    project.record(f"--opcost-rounds={rounds}")

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    few = (
        f"- the baseline holds {held} of the 4 rounds or more that tell its noise, and sees large changes only; "
        'record it anew: pytest "test_model.py::test_model" --opcost-update-baselines'
    )
    assert (few in told(result)) is says
