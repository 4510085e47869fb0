"""A declared ratio that left its band fails, either way, and the message says which side moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .project import failure, told

if TYPE_CHECKING:
    from .project import Project

_WITH_MARKER = """
import pytest


@pytest.mark.opcost({marker})
def test_model(opcost, step):
    opcost.check(step)
"""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"addmm": [1190.0, 2]},
            "- conv/addmm: 3.36, was 4 (-16 %): "
            "addmm moved, addmm 1,000 us -> 1,190 us (+19 %); conv 4,000 us -> 4,000 us (+0.0 %)",
        ),
        (
            {"addmm": [800.0, 2]},
            "- conv/addmm: 5, was 4 (+25 %): "
            "addmm moved, addmm 1,000 us -> 800 us (-20 %); conv 4,000 us -> 4,000 us (+0.0 %)",
        ),
        (
            {"mkldnn_convolution": [4760.0, 2]},
            "- conv/addmm: 4.76, was 4 (+19 %): "
            "conv moved, conv 4,000 us -> 4,760 us (+19 %); addmm 1,000 us -> 1,000 us (+0.0 %)",
        ),
        (
            {"mkldnn_convolution": [3200.0, 2]},
            "- conv/addmm: 3.2, was 4 (-20 %): "
            "conv moved, conv 4,000 us -> 3,200 us (-20 %); addmm 1,000 us -> 1,000 us (+0.0 %)",
        ),
        (
            {"mkldnn_convolution": [4720.0, 2], "addmm": [850.0, 2]},
            "- conv/addmm: 5.55, was 4 (+39 %): "
            "both sides moved, conv 4,000 us -> 4,720 us (+18 %) and addmm 1,000 us -> 850 us (-15 %)",
        ),
    ],
    ids=["addmm-dearer", "addmm-cheaper", "conv-dearer", "conv-cheaper", "both"],
)
def test_out_of_its_band_either_way_fails_and_says_which_side_moved(
    project: Project, changes: dict[str, Any], message: str
) -> None:
    project.record()
    project.lenet(**changes)

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    assert failure(result).splitlines()[1] == message
    assert "measured 6 times" in failure(result)


@pytest.mark.parametrize("addmm", [985.0, 1015.0])
def test_within_the_noise_passes(project: Project, addmm: float) -> None:
    project.record()
    project.lenet(addmm=[addmm, 2])

    project.run("--opcost").assert_outcomes(passed=1)


def test_the_marker_sets_the_band(project: Project) -> None:
    project.write("test_model.py", _WITH_MARKER.format(marker='ratios={"conv/addmm": 0.5}, tolerance=9'))
    project.record()
    project.lenet(addmm=[1300.0, 2])
    project.run("--opcost").assert_outcomes(passed=1)

    project.lenet(addmm=[2200.0, 2])
    assert "conv/addmm: 1.82, was 4 (-55 %)" in failure(project.run("--opcost"))


def test_a_ratio_of_the_users_own(project: Project) -> None:
    project.write("test_model.py", _WITH_MARKER.format(marker='ratios={"copy/total": 0.1}, tolerance=9'))
    (text,) = project.record().values()
    assert "copy/total: {value: 0.04, spread: 0.0}" in text
    project.lenet(copy_=[800.0, 2])

    message = failure(project.run("--opcost"))

    assert "- copy/total: 0.0769, was 0.04 (+92 %): copy moved, copy 400 us -> 800 us (+100 %)" in message


def test_the_option_declares_a_ratio_for_every_test(project: Project) -> None:
    option = "--opcost-ratio=aten::copy_/aten::addmm=0.2"
    project.record(option)
    project.lenet(copy_=[900.0, 2])

    message = failure(project.run("--opcost", option, "--opcost-tolerance=9"))

    assert "- aten::copy_/aten::addmm: 0.9, was 0.4 (+125 %): aten::copy_ moved" in message


def test_a_ratio_declared_after_the_recording_is_told_to_be_not_judged(project: Project) -> None:
    project.record()

    result = project.run("--opcost", "--opcost-ratio=copy/total=0.1")

    result.assert_outcomes(passed=1)
    assert "copy/total: not judged, it is not in the baseline; record it with --opcost-update-baselines" in told(result)


def test_a_model_without_convolutions_needs_no_ratio(project: Project) -> None:
    project.lenet(mkldnn_convolution=None)
    project.record()

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "conv/addmm" not in told(result)


def test_a_training_step_has_its_forward_ratio_judged_too(project: Project) -> None:
    project.lenet(mkldnn_convolution=[4000.0, 2, 0.5], addmm=[1000.0, 2, 1.0])
    (text,) = project.record().values()
    assert "conv/addmm: {value: 4.0, spread: 0.0}" in text
    assert "conv/addmm forward: {value: 2.0, spread: 0.0}" in text
    project.lenet(mkldnn_convolution=[4000.0, 2, 0.6], addmm=[1000.0, 2, 1.0])

    message = failure(project.run("--opcost"))

    assert "- conv/addmm forward: 2.4, was 2 (+20 %): conv moved, conv 2,000 us -> 2,400 us (+20 %)" in message
    assert "- conv/addmm:" not in message
