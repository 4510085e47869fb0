"""A baseline edited by hand, by a factor of 1.3 (1.6 where costs are noisy): its test alone fails, and names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .project import failure

if TYPE_CHECKING:
    from .project import Project


@pytest.fixture
def edited(project: Project, request: pytest.FixtureRequest) -> Project:
    """Three recorded tests; in the file of the second one piece of text is replaced."""
    project.checks("test_one", "test_two")
    (path,) = (path for path in project.record() if "test_two" in path.name)
    old, new = request.param
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return project


@pytest.mark.parametrize(
    ("edited", "bullets"),
    [
        (
            ("self_host_us: 2000,", f"self_host_us: {2000 / 1.6:.1f},"),
            ["- aten::max_pool2d_with_indices (pool): 2,000 us a step, was 1,250 us (+60 %)"],
        ),
        (
            ("self_host_us: 4000,", f"self_host_us: {4000 * 1.3:.1f},"),
            [
                "- conv/addmm: 4, was 5.2 (-23 %): "
                "conv moved, conv 5,200 us -> 4,000 us (-23 %); addmm 1,000 us -> 1,000 us (+0.0 %)",
                "- aten::mkldnn_convolution (conv): 4,000 us a step, was 5,200 us (-23 %): cheaper than the baseline",
            ],
        ),
        (
            ("self_host_us: 4000,", f"self_host_us: {4000 / 1.3:.1f},"),
            [
                "- conv/addmm: 4, was 3.08 (+30 %): "
                "conv moved, conv 3,077 us -> 4,000 us (+30 %); addmm 1,000 us -> 1,000 us (+0.0 %)",
                "- aten::mkldnn_convolution (conv): 4,000 us a step, was 3,077 us (+30 %)",
            ],
        ),
        (
            ("value: 4.0", f"value: {4 * 1.3}"),
            ["- conv/addmm: 4, was 5.2 (-23 %): "],
        ),
        (
            ("'aten::copy_', family: copy, calls: 2", "'aten::copy_', family: copy, calls: 1"),
            ["- aten::copy_ (copy) is called 2 times a step (was 1)"],
        ),
    ],
    indirect=["edited"],
    ids=["dearer", "cheaper conv", "dearer conv", "ratio", "calls"],
)
def test_what_was_edited_fails_its_test_alone_and_is_named(edited: Project, bullets: list[str]) -> None:
    result = edited.run("--opcost")

    result.assert_outcomes(failed=1, passed=2)
    message = failure(result)
    assert "test_more.py::test_two drifted from its baseline" in message
    found = [line for line in message.splitlines() if line.startswith("- ")]
    assert len(found) == len(bullets)
    for line, bullet in zip(found, bullets):
        assert line.startswith(bullet)
