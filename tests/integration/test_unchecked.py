"""An opcost test that passes and never measured anything is named in the summary."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from .project import summary, told

if TYPE_CHECKING:
    from .project import Project

_LINE = "passed without a call of opcost.check or opcost.profile: "


@pytest.mark.parametrize("workers", [False, True], ids=["", "xdist"])
def test_tests_that_forgot_their_check_are_named_and_pass(project: Project, workers: bool) -> None:
    project.write("test_more.py", "def test_one(opcost):\n    pass\n\n\ndef test_two(opcost):\n    pass\n")
    if workers:
        pytest.importorskip("xdist")
        project.installs_its_own_seam()
        result = project.pytester.run(sys.executable, "-m", "pytest", "--opcost", "-n", "1")
    else:
        result = project.run("--opcost")

    result.assert_outcomes(passed=3)
    assert result.ret == 0
    assert f"{_LINE}test_more.py::test_one, test_more.py::test_two opcost: 1 recorded" in told(result)


def test_a_test_with_the_marker_and_without_the_fixture_is_named(project: Project) -> None:
    project.write("test_more.py", "import pytest\n\n\n@pytest.mark.opcost\ndef test_one():\n    pass\n")

    result = project.run("--opcost")

    assert result.ret == 0
    assert f"{_LINE}test_more.py::test_one opcost: 1 recorded" in told(result)


@pytest.mark.parametrize(
    "test",
    [
        "def test_more(opcost, step):\n    opcost.profile(step)\n",
        "def test_more(opcost, step):\n    opcost.check(step)\n",
        "def test_more(opcost, step):\n    with pytest.raises(Exception):\n        opcost.check(step, tolerence=1)\n",
        "@pytest.fixture\ndef late(opcost, step):\n    yield\n    opcost.check(step)\n\n\n"
        "def test_more(late):\n    pass\n",
        "def test_more():\n    pass\n",
        "pytestmark = pytest.mark.opcost(top=3)\n\n\ndef test_more():\n    pass\n",
        "@pytest.fixture\ndef lenet_training():\n    pass\n\n\n"
        "@pytest.mark.opcost\ndef test_more(lenet_training):\n    pass\n",
        "def test_more(opcost):\n    pytest.skip('not today')\n",
        "def test_more(opcost):\n    raise ValueError\n",
        "@pytest.mark.xfail\ndef test_more(opcost):\n    raise ValueError\n",
    ],
    ids=[
        "profile", "check", "mistaken call", "fixture", "no opcost test", "marked module", "training", "skipped",
        "failed", "expected to fail",
    ],
)  # fmt: skip
def test_what_measured_or_did_not_pass_is_not_named(project: Project, test: str) -> None:
    project.write("test_more.py", f"import pytest\n\n\n{test}")

    result = project.run("--opcost")

    assert summary(result)
    assert _LINE not in told(result)
