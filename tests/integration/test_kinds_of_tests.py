"""Classes, parametrized classes, coroutines and doctests: measured as tests are, or refused with what to do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from .project import failure, summary, told

if TYPE_CHECKING:
    from .project import Project

_CLASS = """
import pytest


class TestModel:
    @pytest.fixture(autouse=True)
    def prepared(self, opcost):
        self.opcost = opcost

    def test_method(self, opcost, step):
        opcost.check(step)

    def test_from_a_fixture(self, step):
        self.opcost.check(step)

    @staticmethod
    def test_static(opcost, step):
        opcost.check(step)

    class TestInner:
        @pytest.mark.opcost(top=2)
        def test_method(self, opcost, step):
            opcost.check(step)
"""

_PARAMETRIZED = """
import pytest


@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.opcost(top=2)
class TestModel:
    @pytest.mark.parametrize("depth", ["one", "two"])
    def test_method(self, opcost, step, width, depth):
        opcost.check(step)
"""


@pytest.mark.parametrize(("text", "count"), [(_CLASS, 4), (_PARAMETRIZED, 4)], ids=["class", "parametrized"])
def test_methods_have_a_baseline_each(suite: Project, text: str, count: int) -> None:
    suite.write("test_model.py", text)

    before = suite.record()
    assert len(before) == count
    suite.run("--opcost", "--opcost-missing=fail", "--opcost-prune-baselines").assert_outcomes(passed=count)
    suite.lenet(gelu=[2100.0, 3])
    result = suite.pytester.run(sys.executable, "-m", "pytest", "--opcost", "-k", "test_method and not Inner")

    assert result.parseoutcomes()["failed"] == count // 4 * (4 if "width" in text else 1)
    assert "measured 6 times" in result.stdout.str()
    assert suite.files() == before


_UNITTEST = """
import unittest

import pytest


class TestModel(unittest.TestCase):
    def test_argument(self, opcost, step):
        opcost.check(step)

    def test_other(self):
        pass


@pytest.mark.opcost(top=3)
class TestMarked(unittest.TestCase):
    def test_device(self, opcost_device):
        pass
"""


def test_a_unittest_method_that_asks_for_a_fixture_is_refused_with_what_to_do(project: Project) -> None:
    project.write("test_model.py", _UNITTEST)

    result = project.run("--opcost")

    result.assert_outcomes(passed=1, errors=2)
    message = " ".join(line.removeprefix("E ").strip() for line in result.outlines)
    assert (
        "test_model.py::TestModel::test_argument takes opcost, step, and methods of a unittest.TestCase get no fixtures"
        in " ".join(message.split())
    )
    assert "Expected: a function, or a class that is no TestCase" in " ".join(message.split())
    assert "TypeError" not in result.stdout.str()
    assert project.seam.calls == []


def test_without_opcost_it_is_skipped_like_others(project: Project) -> None:
    project.write("test_model.py", _UNITTEST)

    result = project.run("-rs")

    result.assert_outcomes(passed=1, skipped=2)
    assert "measures operator costs: needs --opcost" in told(result)


def test_a_unittest_class_may_get_it_from_a_fixture_of_its_own(suite: Project) -> None:
    """The way that the refusal names."""
    suite.write(
        "test_model.py",
        "import unittest\n\nimport pytest\n\n\nclass TestModel(unittest.TestCase):\n"
        "    @pytest.fixture(autouse=True)\n    def _prepared(self, opcost, step):\n"
        "        self.opcost, self.step = opcost, step\n\n"
        "    def test_model(self):\n        self.opcost.check(self.step)\n",
    )
    before = suite.record()
    assert len(before) == 1
    suite.lenet(gelu=[2100.0, 3])

    result = suite.pytester.run(sys.executable, "-m", "pytest", "--opcost")

    result.assert_outcomes(failed=1)
    assert "measured 6 times" in failure(result)
    suite.run().assert_outcomes(skipped=1)


def test_a_device_that_nothing_can_parametrize_is_refused_with_what_to_do(project: Project) -> None:
    project.write(
        "test_model.py",
        "def test_model(request):\n    request.getfixturevalue('opcost_batch_size')\n\n\n"
        "def test_other(request):\n    request.getfixturevalue('opcost_device')\n",
    )

    result = project.run("--opcost")

    result.assert_outcomes(failed=2)
    assert "opcost_batch_size is a parameter of the test, and this one does not take it by its name" in told(result)
    assert "AttributeError" not in result.stdout.str()


def test_a_coroutine_without_a_plugin_for_it_is_pytests_to_tell(project: Project) -> None:
    project.write("test_model.py", "async def test_model(opcost, step):\n    opcost.check(step)\n")
    project.write("pytest.ini", "[pytest]\n")

    result = project.run("--opcost")

    assert "passed" not in result.parseoutcomes()
    assert "async def functions are not natively supported" in told(result)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert project.seam.calls == []


def test_a_step_that_is_a_coroutine_function_is_refused(project: Project) -> None:
    project.write(
        "test_model.py",
        "async def step():\n    pass\n\n\ndef test_model(opcost):\n    opcost.check(step)\n\n\n"
        "def test_profile(opcost):\n    opcost.profile(step)\n",
    )

    result = project.run("--opcost")

    result.assert_outcomes(failed=2)
    assert "OptionError: opcost.check in test_model.py::test_model: the step is a coroutine function" in told(result)
    assert "lambda: asyncio.run(step())" in told(result)
    assert project.seam.calls == []


def test_doctests_run_beside_it_and_may_check(suite: Project) -> None:
    suite.write(
        "model.py",
        'def width():\n    """\n    >>> width()\n    16\n    """\n    return 16\n\n\n'
        'def forward():\n    """\n    >>> result = getfixture("opcost").check(getfixture("step"))\n    """\n',
    )
    suite.write("notes.txt", ">>> 1 + 1\n2\n")
    options = ("--doctest-modules", "--doctest-glob=*.txt")

    suite.run(*options).assert_outcomes(passed=2, skipped=2)
    before = suite.record(*options)
    assert [path.name.rpartition("-")[0] for path in before] == ["model.py-model.forward", "test_model.py-test_model"]
    suite.lenet(gelu=[2100.0, 3])
    result = suite.pytester.run(sys.executable, "-m", "pytest", "--opcost", *options)

    result.assert_outcomes(passed=2, failed=2)
    assert "opcost: 2 drifted" in summary(result)
    assert "model.py::model.forward drifted from its baseline, measured 6 times" in told(result)


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("check(len, [1.0])", "its second argument is a name, found a list: a step is called without arguments."),
        ("check(step, 3)", "its second argument is a name, found an int: a step is called without arguments."),
        ("check(step())", "the step cannot be called, found a dict."),
        ("check(None)", "the step cannot be called, found None."),
        ("profile(step())", "the step cannot be called, found a dict."),
    ],
    ids=lambda value: value.partition(" ")[0],
)
def test_a_step_that_is_called_already_or_wants_arguments_is_refused(project: Project, call: str, found: str) -> None:
    project.write("test_model.py", f"def test_model(opcost, step):\n    opcost.{call}\n")

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    assert f"opcost.check in test_model.py::test_model: {found}\n" in failure(result)
    assert "such as opcost.check(lambda: model(x)).\n" in failure(result)
    assert project.seam.calls == []
