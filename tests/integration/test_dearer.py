"""An operator that costs more than tolerated fails, once that is confirmed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .fake_seam import LENET
from .project import failure, summary, told

if TYPE_CHECKING:
    from .project import Project


def _varying(project: Project, *costs: float) -> None:
    """From now on gelu costs this in one measurement after another."""
    project.write(
        "test_model.py",
        f"""
OPS = {LENET!r}
costs = iter({list(costs)!r})


def test_model(opcost):
    opcost.check(lambda: {{"ops": OPS | {{"aten::gelu": [next(costs), 3]}}}})
""",
    )


def _scaled(factor: float) -> dict[str, Any]:
    """LeNet's operators, all of them dearer alike."""
    return {
        name: [cost[0] * factor, *cost[1:]] if isinstance(cost, list) else cost * factor for name, cost in LENET.items()
    }


def test_dearer_than_tolerated_fails_with_the_figures(project: Project) -> None:
    project.record()
    project.lenet(gelu=[1950.0, 3])

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    bullets = [line for line in failure(result).splitlines() if line.startswith("- ")]
    assert bullets == ["- aten::gelu (elementwise): 1,950 us a step, was 1,500 us (+30 %)"]
    assert "opcost: 1 drifted" in summary(result)


def test_it_is_measured_again_before_it_fails(project: Project) -> None:
    project.record()
    project.lenet(gelu=[2400.0, 3])

    message = failure(project.run("--opcost"))

    assert "measured 6 times" in message
    assert len(project.seam.calls) == 6  # two here, four in fresh processes


@pytest.mark.parametrize(("confirm", "measured", "outcome"), [("0", 1, "failed"), ("9", 6, "failed")])
def test_confirm_is_how_many_fresh_processes_there_may_be(
    project: Project, confirm: str, measured: int, outcome: str
) -> None:
    project.record()
    project.lenet(gelu=[2400.0, 3])

    project.run("--opcost", f"--opcost-confirm={confirm}").assert_outcomes(**{outcome: 1})

    assert len(project.seam.calls) == measured


def test_what_fresh_processes_do_not_show_passes(project: Project) -> None:
    project.record()
    _varying(project, 1950.0, 1950.0, 1500.0, 1500.0, 1500.0, 1500.0, 1500.0)

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert len(project.seam.calls) == 3


def test_what_does_not_come_again_passes(project: Project) -> None:
    project.record()
    _varying(project, 3000.0, 1500.0, 1500.0, 1500.0, 1500.0)

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 passed" in summary(result)


def test_within_the_noise_passes(project: Project) -> None:
    project.record()
    project.lenet(gelu=[1520.0, 3])

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert len(project.seam.calls) == 1


def test_the_option_sets_the_tolerance(project: Project) -> None:
    project.record()
    project.lenet(gelu=[1950.0, 3])
    project.run("--opcost", "--opcost-tolerance=0.4").assert_outcomes(passed=1)

    project.lenet(gelu=[3000.0, 3])
    result = project.run("--opcost", "--opcost-tolerance=0.4")

    assert "3,000 us a step, was 1,500 us (+100 %)" in failure(result)


def test_the_marker_sets_the_tolerance_of_its_test_alone(project: Project) -> None:
    project.write(
        "test_more.py",
        "import pytest\n\n\n@pytest.mark.opcost(tolerance=0.4)\ndef test_lenient(opcost, step):\n"
        "    opcost.check(step)\n",
    )
    project.record()
    project.lenet(gelu=[1950.0, 3])

    result = project.run("--opcost")

    result.assert_outcomes(passed=1, failed=1)
    assert "test_model.py::test_model drifted" in failure(result)


def test_the_call_wins_over_the_marker(project: Project) -> None:
    project.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.opcost(tolerance=0.4)\ndef test_model(opcost, step):\n"
        "    opcost.check(step, tolerance=0.1)\n",
    )
    project.record()
    project.lenet(gelu=[2400.0, 3])

    assert "2,400 us a step, was 1,500 us (+60 %)" in failure(project.run("--opcost"))


def test_an_operator_below_its_share_of_the_step_is_not_judged(project: Project) -> None:
    project.record()
    project.lenet(empty=[170.0, 4])

    project.run("--opcost").assert_outcomes(passed=1)


def test_an_operator_that_grew_above_its_share_is_judged(project: Project) -> None:
    project.record()
    project.lenet(empty=[500.0, 4])

    assert "- aten::empty (allocate): 500 us a step, was 100 us" in failure(project.run("--opcost"))


def test_a_change_of_a_few_microseconds_is_none(project: Project) -> None:
    """A relative change is not enough: 4 us of 100 is what a cache line more may cost."""
    small = _scaled(0.01)
    project.costs(small)
    project.record()
    project.costs(small | {"aten::copy_": [8.5, 2]})

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 passed" in result.outlines


def test_the_whole_machine_being_slower_is_told_and_is_no_operators_drift(project: Project) -> None:
    project.record()
    project.costs(
        {name: [cost[0] * 1.4, cost[1]] if isinstance(cost, list) else cost * 1.4 for name, cost in LENET.items()}
    )

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 passed" in summary(result)
    assert "all operators alike are 40 % dearer: the machine changed, not an operator" in told(result)


@pytest.mark.parametrize(("device", "outcome"), [("cuda", "failed"), ("cpu", "passed")])
def test_device_time_is_judged_more_narrowly(project: Project, device: str, outcome: str) -> None:
    project.record(f"--opcost-device={device}")
    project.lenet(mkldnn_convolution=[4160.0, 2])

    project.run("--opcost", f"--opcost-device={device}").assert_outcomes(**{outcome: 1})


@pytest.mark.parametrize(("name", "outcome"), [("aten::tanh", "passed"), ("aten::mkldnn_rnn_layer", "failed")])
def test_what_streams_through_memory_is_noisier(project: Project, name: str, outcome: str) -> None:
    project.costs(LENET | {name: 1000.0})
    project.record()
    project.costs(LENET | {name: 1100.0})

    project.run("--opcost").assert_outcomes(**{outcome: 1})
