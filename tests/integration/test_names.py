"""Several checks in one test, and profiles without any baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from .project import failure, summary, told

if TYPE_CHECKING:
    from .project import Project

_TWO_NAMES = """
def test_model(opcost, step):
    opcost.check(step, name="encoder")
    opcost.check(step, name="decoder")
"""


def test_named_checks_have_baselines_of_their_own(project: Project) -> None:
    project.write("test_model.py", _TWO_NAMES)

    files = project.record()

    documents = [yaml.safe_load(text) for text in files.values()]
    assert [document["check"] for document in documents] == ["decoder", "encoder"]
    assert {document["test"] for document in documents} == {"test_model.py::test_model"}
    result = project.run("--opcost")
    result.assert_outcomes(passed=1)
    assert "opcost: 2 passed" in summary(result)
    assert "passed test_model.py::test_model (encoder)" in told(result)


def test_a_failure_names_its_check(project: Project) -> None:
    project.write("test_model.py", _TWO_NAMES)
    project.record()
    project.lenet(addmm=[2000.0, 2])

    assert "test_model.py::test_model (encoder) drifted" in failure(project.run("--opcost"))


def test_neither_baseline_of_a_named_check_is_stale(project: Project) -> None:
    project.write("test_model.py", _TWO_NAMES)
    before = project.record()

    project.run("--opcost", "--opcost-prune-baselines")

    assert project.files() == before


def test_a_second_check_without_a_name_is_refused(project: Project) -> None:
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step)\n    opcost.check(step)\n")

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    message = failure(result)
    assert "OptionError: test_model.py::test_model: a second check " in message
    assert "would overwrite the first one's baseline" in message
    assert 'such as opcost.check(step, name="decoder")' in message
    assert "api.py" not in result.stdout.str()


def test_a_second_check_of_the_same_name_is_refused(project: Project) -> None:
    project.write(
        "test_model.py",
        "def test_model(opcost, step):\n    opcost.check(step, name='a')\n    opcost.check(step, name='a')\n",
    )

    assert "a second check with the name 'a' would overwrite" in failure(project.run("--opcost"))


def test_the_same_test_of_two_parameters_may_use_the_same_name(project: Project) -> None:
    project.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.parametrize('size', [1, 2])\ndef test_model(opcost, step, size):\n"
        "    opcost.check(step, name='a')\n",
    )

    assert len(project.record()) == 2


def test_a_profile_needs_no_baseline_and_leaves_none(project: Project) -> None:
    project.write(
        "test_model.py",
        """
def test_model(opcost, step):
    one = opcost.profile(step)
    two = opcost.profile(step, steps=3)
    assert one.total_us == two.total_us == 10_000
    assert one.ops[0].name == "aten::mkldnn_convolution"
    opcost.check(step)
""",
    )

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 recorded" in summary(result)
    assert [check.steps for _, check, _ in project.seam.calls[:2]] == [None, 3]
    assert len(project.files()) == 1


def test_a_profile_alone_is_nothing_judged(project: Project) -> None:
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.profile(step)\n")

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert result.ret == 1


def test_a_check_on_a_device_of_its_own(project: Project) -> None:
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step, device='cuda:1')\n")

    project.run("--opcost").assert_outcomes(passed=1)

    assert project.seam.calls[0][2] == "cuda:1"
    (path,) = project.files()
    assert path.parent.name == "cuda-chip-a-torch2.9"


def test_a_device_that_there_cannot_be(project: Project) -> None:
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step, device='toaster')\n")

    message = failure(project.run("--opcost"))

    assert "opcost.check in test_model.py::test_model: device='toaster' is no device that opcost knows." in message
    assert "Expected: cpu, cuda, cuda:1 (or another index), mps or xpu." in message
