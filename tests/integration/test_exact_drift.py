"""What can be told without noise fails by itself, and names the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .fake_seam import LENET
from .project import failure

if TYPE_CHECKING:
    from .project import Project


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"copy_": None}, "copy_ (copy) is gone: 0 calls a step (was 2); it took 400 us a step"),
        ({"clone": 1.0}, "clone (copy) is new: 1 call a step (was 0); it takes 1 us a step"),
        ({"clone": [1.0, 2]}, "clone (copy) is new: 2 calls a step (was 0); it takes 1 us a step"),
        (
            {"copy_": [600.0, 3]},
            "copy_ (copy) is called 3 times a step (was 2); time 400 us -> 600 us a step (+50 %)",
        ),
        (
            {"copy_": [200.0, 1]},
            "copy_ (copy) is called 1 time a step (was 2); time 400 us -> 200 us a step (-50 %)",
        ),
    ],
    ids=["vanished", "appeared", "appeared-twice", "more-often", "less-often"],
)
def test_an_operator_that_is_not_as_it_was_fails_and_is_named(
    project: Project, changes: dict[str, Any], told: str
) -> None:
    project.record()
    project.lenet(**changes)

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    bullets = [line for line in failure(result).splitlines() if line.startswith("- ")]
    assert bullets == [f"- aten::{told}"]


def test_another_backend_is_told_in_one_sentence(project: Project) -> None:
    project.record()
    project.lenet(mkldnn_convolution=None, _slow_conv2d_forward=[4000.0, 2])

    message = failure(project.run("--opcost"))

    assert "- conv now runs as aten::_slow_conv2d_forward (was aten::mkldnn_convolution)\n" in message
    assert "is gone" not in message
    assert "is new" not in message


def test_a_changed_setting_is_told_with_both_values(project: Project) -> None:
    project.record()
    project.costs(settings={"mkldnn": "off"})

    assert "- the setting mkldnn is off (was on)\n" in failure(project.run("--opcost"))


def test_a_setting_that_older_baselines_do_not_know_is_no_drift(project: Project) -> None:
    project.record()
    project.costs(settings={"brand_new": "on"})

    project.run("--opcost").assert_outcomes(passed=1)


def test_an_exact_change_is_measured_once_more_and_no_oftener(project: Project) -> None:
    project.record()
    project.lenet(clone=1.0)

    message = failure(project.run("--opcost"))

    assert "measured 2 times" in message
    assert len(project.seam.calls) == 2


@pytest.mark.parametrize("softmax", [990.0, 1010.0], ids=["in the quietest", "in a slower one"])
def test_an_exact_change_that_does_not_come_again_is_no_drift(project: Project, softmax: float) -> None:
    project.record()
    project.write(
        "test_model.py",
        f"""
OPS = {LENET!r}
steps = iter([OPS | {{"aten::clone": 1.0, "aten::_log_softmax": {softmax}}}, OPS, OPS, OPS, OPS])


def test_model(opcost):
    opcost.check(lambda: {{"ops": next(steps)}})
""",
    )

    project.run("--opcost").assert_outcomes(passed=1)

    assert len(project.seam.calls) == 2


def test_an_exact_change_needs_no_quiet_machine(project: Project) -> None:
    project.record()
    project.write(
        "test_model.py",
        f"""
OPS = {LENET!r} | {{"aten::clone": 1.0}}
costs = iter([1000.0, 4000.0, 8000.0, 16000.0, 32000.0])


def test_model(opcost):
    opcost.check(lambda: {{"ops": OPS | {{"aten::_log_softmax": next(costs)}}}})
""",
    )

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    assert "- aten::clone (copy) is new: 1 call a step (was 0)" in failure(result)


def test_an_operator_that_varies_from_step_to_step_is_not_compared(project: Project) -> None:
    project.write(
        "test_model.py",
        f"""
OPS = {LENET!r}
steps = iter([OPS | {{"aten::clone": [1.0, count]}} for count in (2, 1, 2, 1, 2, 1)])


def test_model(opcost):
    opcost.check(lambda: {{"ops": next(steps)}})
""",
    )
    (text,) = project.record().values()
    assert "'aten::clone', family: copy, calls: 1, " in text
    assert text.count("varying: true") == 1
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step)\n")

    project.run("--opcost").assert_outcomes(passed=1)


def test_the_first_bullet_is_the_exact_cause_not_its_consequences(project: Project) -> None:
    project.record()
    project.lenet(mkldnn_convolution=None, _slow_conv2d_forward=[40000.0, 2], view=[50.0, 2], addmm=[1300.0, 2])

    lines = failure(project.run("--opcost")).splitlines()

    costs = "40,000 us a step (was 4,000 us)"
    assert lines[1] == f"Cause: aten::mkldnn_convolution became aten::_slow_conv2d_forward, {costs}"
    assert lines[2] == "- conv now runs as aten::_slow_conv2d_forward (was aten::mkldnn_convolution)"
    new = "- aten::view (view) is new: 2 calls a step (was 0); it takes 50 us a step"
    assert lines[3:5] == ["What else moved:", new]
