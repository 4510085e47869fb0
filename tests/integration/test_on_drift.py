"""`on_drift="report"`: the drift is told and the test passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .project import summary, told

if TYPE_CHECKING:
    from .project import Project

_TEST = """
import pytest


{marker}
def test_model(opcost, step):
    opcost.check(step{argument})
"""
_MARKER = '@pytest.mark.opcost(on_drift="{}")'


@pytest.mark.parametrize(
    ("marker", "argument", "options"),
    [
        (_MARKER.format("report"), "", []),
        ("", ', on_drift="report"', []),
        ("", "", ["--opcost-on-drift=report"]),
        (_MARKER.format("fail"), ', on_drift="report"', []),
        (_MARKER.format("report"), "", ["--opcost-on-drift=fail"]),
    ],
    ids=["marker", "call", "option", "call over marker", "marker over option"],
)
def test_report_tells_the_drift_and_passes(project: Project, marker: str, argument: str, options: list[str]) -> None:
    project.write("test_model.py", _TEST.format(marker=marker, argument=argument))
    project.record()
    project.lenet(addmm=[2000.0, 2])

    result = project.run("--opcost", *options)

    result.assert_outcomes(passed=1)
    assert result.ret == 0
    assert "DRIFTED test_model.py::test_model" in told(result)
    assert "- conv/addmm: 2, was 4 (-50 %): addmm moved" in told(result)
    assert "opcost: 1 drifted" in summary(result)


@pytest.mark.parametrize(
    ("marker", "argument", "options"),
    [
        ("", "", []),
        (_MARKER.format("report"), ', on_drift="fail"', []),
        (_MARKER.format("fail"), "", ["--opcost-on-drift=report"]),
    ],
    ids=["default", "call over marker", "marker over option"],
)
def test_fail_fails(project: Project, marker: str, argument: str, options: list[str]) -> None:
    project.write("test_model.py", _TEST.format(marker=marker, argument=argument))
    project.record()
    project.lenet(addmm=[2000.0, 2])

    project.run("--opcost", *options).assert_outcomes(failed=1)
