"""An option that is not valid: one message that says what would, before any test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .project import Project

_WHOLE = "Expected: a whole number, 1 or more, such as 16."
_COUNT = "Expected: a whole number, 0 or more, such as 5."
_FRACTION = "Expected: a number, 0 or more, such as 0.10 for 10 %."
_DEVICE = "Expected: cpu, cuda, cuda:1 (or another index), mps or xpu."


@pytest.mark.parametrize(
    ("option", "found", "expected"),
    [
        ("--opcost-batch-size=0", "'0' is not valid", _WHOLE),
        ("--opcost-batch-size=abc", "'abc' is not valid", _WHOLE),
        (
            "--opcost-batch-size=1,,2",
            "'1,,2' has nothing between two commas, or at an end",
            "Expected: values with commas between, such as 1,2.",
        ),
        ("--opcost-batch-size=-1", "'-1' is not valid", _WHOLE),
        ("--opcost-batch-size=1.5", "'1.5' is not valid", _WHOLE),
        ("--opcost-device=toaster", "'toaster' is no device that opcost knows", _DEVICE),
        ("--opcost-device=cpu:1", "'cpu:1' is no device that opcost knows", _DEVICE),
        ("--device=cuda0", "'cuda0' is no device that opcost knows", _DEVICE),
        ("--device=cpu,cuda0", "'cuda0' is no device that opcost knows", _DEVICE),
        ("--opcost-missing=maybe", "'maybe' is not valid", "Expected: record, report or fail."),
        ("--opcost-on-drift=ignore", "'ignore' is not valid", "Expected: fail or report."),
        ("--opcost-allocator=loud", "'loud' is not valid", "Expected: quiet or system."),
        ("--opcost-threads=0", "'0' is not valid", _WHOLE),
        ("--opcost-rounds=-1", "'-1' is not valid", "a whole number, 0 or more, such as 5."),
        ("--opcost-steps=0", "'0' is not valid", _WHOLE),
        ("--opcost-top=0", "'0' is not valid", _WHOLE),
        ("--opcost-warmup=-1", "'-1' is not valid", _COUNT),
        ("--opcost-confirm=x", "'x' is not valid", _COUNT),
        ("--opcost-tolerance=nan", "'nan' is not valid", _FRACTION),
        ("--opcost-tolerance=inf", "'inf' is not valid", _FRACTION),
        ("--opcost-floor=-0.5", "'-0.5' is not valid", "Expected: microseconds, 0 or more, such as 5."),
        ("--opcost-fail-on=both", "'both' is not valid", "Expected: dearer or drift."),
        ("--opcost-ratio=conv", "'conv' is no ratio", "such as conv/addmm or copy/total."),
        ("--opcost-ratio=con/addmm", "'con' is neither a family nor an operator's full name", "wait."),
        ("--opcost-ratio=conv/addmm=x", "the band of conv/addmm='x' is not valid", _FRACTION),
    ],
    ids=lambda value: value if value.startswith("--") else "",
)
def test_a_value_that_makes_no_sense(project: Project, option: str, found: str, expected: str) -> None:
    result = project.run("--opcost", option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (first, second, *_) = [line for line in result.errlines if line]
    assert first.startswith(f"ERROR: {option.partition('=')[0]}")
    assert found in first
    assert second.startswith("Expected: ")
    assert second.endswith(expected.removeprefix("Expected: "))
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert project.seam.calls == []


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--device=cpu", "--opcost-device=toaster"], "--opcost-device"),
        (["--opcost-device=cpu", "--device", "toaster"], "--device"),
    ],
)
def test_of_two_names_that_are_given_the_one_with_the_mistake_is_told(
    project: Project, options: list[str], name: str
) -> None:
    result = project.run("--opcost", *options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    lines = [line for line in result.errlines if line]
    assert lines[0] == f"ERROR: {name}='toaster' is no device that opcost knows."
    assert lines[2:] == [f"For example: {name}=cpu"]


def test_it_is_told_without_opcost_too(project: Project) -> None:
    assert project.run("--opcost-batch-size=0").ret == pytest.ExitCode.USAGE_ERROR


def test_a_bad_ini_value_names_the_ini_file(project: Project) -> None:
    project.ini("opcost_batch_size = 0")

    result = project.run("--opcost")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0] == f"ERROR: opcost_batch_size in {project.path / 'pytest.ini'}='0' is not valid."


def test_a_misspelt_ratio_of_the_ini_file_names_the_ini_file(project: Project) -> None:
    project.ini("opcost_ratio = con/addmm")

    result = project.run("--opcost")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0].startswith(
        f"ERROR: opcost_ratio in {project.path / 'pytest.ini'}: 'con/addmm' is no ratio: 'con' is neither a family "
    )
    assert "The closest is conv." in result.errlines


def test_a_folder_without_mnist_is_the_only_thing_to_mend(project: Project) -> None:
    project.write("test_model.py", "def test_model(opcost, mnist):\n    pass\n")

    result = project.run("--opcost", "--opcost-mnist=.")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    output = result.stdout.str() + result.stderr.str()
    assert "holds no MNIST data set" in output
    assert "nothing was judged" not in output
