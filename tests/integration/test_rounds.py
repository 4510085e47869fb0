"""A round runs given tests again in a fresh process and sends home what their checks measured."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.declared import AS_ASKED
from pytest_opcost.facts import OpFacts

from .rounds import run_round

if TYPE_CHECKING:
    from .project import Project


def test_it_measures_what_a_check_measures(suite: Project) -> None:
    suite.costs(facts={"aten::addmm": {"flops": 7, "kernels": {"gemm": 2}}})

    found = run_round(suite)

    assert found.side == "head"
    assert found.failures == {}
    ((key, profile),) = found.profiles.items()
    assert key == ("test_model.py::test_model", None)
    assert profile.total_host_us == 10_000
    assert profile.by_name()["aten::addmm"].calls == 2
    assert profile.by_name()["aten::addmm"].facts == OpFacts(flops=7, kernels=(("gemm", 2),))


def test_it_takes_times_alone_if_it_is_told_to(suite: Project) -> None:
    """But a profile that the test asks for itself is a whole one."""
    suite.costs(facts={"aten::addmm": {"flops": 7}})
    suite.write(
        "test_model.py",
        "def test_model(opcost, step):\n    opcost.check(step)\n    assert opcost.profile(step).flops == 7\n",
    )

    found = run_round(suite, exact=False)

    assert found.failures == {}
    (profile,) = found.profiles.values()
    assert profile.flops == 0
    assert profile.total_host_us == 10_000


def test_it_neither_judges_nor_writes(suite: Project) -> None:
    before = suite.record()
    suite.lenet(addmm=[9000.0, 2], new=1.0)

    found = run_round(suite, "--opcost-json=out.json", "--opcost-update-baselines", "--opcost-prune-baselines")

    assert found.failures == {}
    assert suite.files() == before
    # Of the run that asked, which ran no test itself.
    assert json.loads((suite.path / "out.json").read_text())["tests"] == []


def test_a_process_that_only_measures_tells_its_user_nothing(project: Project) -> None:
    class Round:
        @pytest.hookimpl(tryfirst=True)
        def pytest_configure(self, config: pytest.Config) -> None:
            config.stash[AS_ASKED] = lambda found: replace(found, enabled=True, only_measure=True)

    # With an option, so that all are declared, as they are in a round.
    result = project.pytester.inline_run("--opcost-threads=1", plugins=[Round()])

    result.assertoutcome(passed=1)
    assert result.ret == 0
    (call,) = (call for call in result.getcalls("pytest_runtest_logreport") if call.report.when == "call")
    assert call.report.opcost[0]["verdict"] == "not_judged"
    assert project.files() == {}


def test_every_check_of_a_test_is_told_apart(suite: Project) -> None:
    suite.write(
        "test_model.py",
        "def test_model(opcost, step):\n    opcost.check(step)\n    opcost.check(step, name='encoder é')\n",
    )

    assert run_round(suite).profiles.keys() == {
        ("test_model.py::test_model", None),
        ("test_model.py::test_model", "encoder é"),
    }


def test_tests_run_in_the_order_that_was_asked_for(suite: Project) -> None:
    suite.checks("test_a", "test_b")
    suite.write(
        "conftest.py",
        (suite.path / "conftest.py").read_text()
        + """

def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.nodeid)


def pytest_runtest_call(item):
    with open("order.txt", "a") as file:
        print(item.name, file=file)
""",
    )
    tests = ["test_more.py::test_b", "test_model.py::test_model", "test_more.py::test_a"]

    found = run_round(suite, tests=tests)

    assert {test for test, _ in found.profiles} == set(tests)
    assert (suite.path / "order.txt").read_text().split() == ["test_b", "test_model", "test_a"]


def test_tests_of_all_kinds(suite: Project) -> None:
    """Ids with odd characters, classes, fixtures of all scopes, and the plugin's own parameters."""
    names = ["a/b::c é", "x y", "'q' \"d\" $HOME `ls` \\", "[", "::", "-k", "\ud800", ""]
    suite.write("tests/odd name/test_é.py", f"""
import pytest

MADE = []


@pytest.fixture(scope="class", autouse=True)
def of_class():
    MADE.append("class")


@pytest.fixture(scope="module", params=["m 1", "m[2]"])
def of_module(request):
    return request.param


@pytest.fixture(scope="session")
def of_session():
    MADE.append("session")
    yield "session"


@pytest.mark.parametrize("name", {names!r}, ids=[*{names!r}])
class TestSome:
    class TestInner:
        def test_it(self, opcost, step, name, of_module, of_session, opcost_batch_size):
            opcost.check(step)
            assert MADE.count("session") == 1
""")  # fmt: skip

    tests: list[str] = []
    found = run_round(suite, "--opcost-batch-size=1,16", "tests", seen=tests)

    assert found.failures == {}
    assert len(tests) == len(names) * 2 * 2
    assert [test for test, _ in found.profiles] == tests


def test_a_folder_that_looks_like_parameters(suite: Project) -> None:
    suite.checks("test_a", file="odd[1]/test_odd.py")

    found = run_round(suite, tests=["odd[1]/test_odd.py::test_a"])

    assert found.failures == {}
    assert found.profiles.keys() == {("odd[1]/test_odd.py::test_a", None)}


def test_a_whole_session_with_rounds_is_one_process_each(suite: Project) -> None:
    suite.write(
        "test_model.py",
        "import os\n\n\ndef test_model(opcost, step):\n    opcost.check(step, name=str(os.getpid()))\n",
    )

    pids = {check for _ in range(2) for _, check in run_round(suite).profiles}

    assert len(pids) == 2


class TestFailures:
    """What goes wrong in a round is told, each with the test that it belongs to; the other tests are measured."""

    def failure(self, suite: Project, text: str, *args: str) -> str:
        suite.write("test_bad.py", text)
        found = run_round(suite, *args, tests=["test_bad.py::test_bad", "test_model.py::test_model"])
        assert found.profiles.keys() >= {("test_model.py::test_model", None)}
        assert found.failures.keys() == {"test_bad.py::test_bad"}
        return found.failures["test_bad.py::test_bad"]

    def test_an_assertion_of_its_own(self, suite: Project) -> None:
        text = self.failure(suite, "def test_bad(opcost, step):\n    number = 3\n    assert number == 4\n")
        assert text == ("failed:\ntest_bad.py:3: in test_bad\n    assert number == 4\nE   assert 3 == 4")

    @pytest.mark.parametrize("option", ["-x", "--maxfail=1", "--pdb", "--tb=no", "--tb=long", "-l", "--runxfail", "-q"])
    def test_whatever_the_user_likes_to_see(self, suite: Project, option: str) -> None:
        suite.write("test_a.py", "def test_a():\n    assert False\n")
        text = self.failure(suite, "def test_bad(opcost, step):\n    assert step == 4\n", option)
        assert text.splitlines()[1] == "test_bad.py:2: in test_bad"
        assert text.splitlines()[-1].startswith("E ")

    def test_a_long_one_by_its_end(self, suite: Project) -> None:
        text = self.failure(
            suite, "def test_bad(opcost, step):\n    raise ValueError('\\n'.join(map(str, range(99))))\n"
        )
        assert text.splitlines()[:2] == ["failed:", "[...]"]
        assert text.endswith("\nE   97\nE   98")

    def test_an_error_in_a_fixture(self, suite: Project) -> None:
        text = self.failure(
            suite,
            "import pytest\n\n\n@pytest.fixture\ndef model():\n    raise ValueError('no weights')\n\n\n"
            "def test_bad(opcost, step, model):\n    opcost.check(step)\n",
        )
        assert text.startswith("an error in its setup:\ntest_bad.py:6: in model\n")
        assert text.endswith("E   ValueError: no weights")

    def test_an_error_in_a_teardown(self, suite: Project) -> None:
        text = self.failure(
            suite,
            "import pytest\n\n\n@pytest.fixture\ndef model():\n    yield\n    raise ValueError('late')\n\n\n"
            "def test_bad(opcost, step, model):\n    opcost.check(step)\n",
        )
        assert text.startswith("an error in its teardown:\n")

    def test_a_skip(self, suite: Project) -> None:
        text = self.failure(suite, "import pytest\n\n\ndef test_bad(opcost):\n    pytest.skip('no such card')\n")
        assert text == "skipped: no such card"

    def test_a_module_that_skips_itself(self, suite: Project) -> None:
        text = self.failure(
            suite,
            "import pytest\n\npytest.importorskip('no_such_module')\n\n\ndef test_bad(opcost):\n    pass\n",
        )
        assert text.startswith("skipped: could not import 'no_such_module'")

    def test_a_module_that_cannot_be_imported(self, suite: Project) -> None:
        text = self.failure(suite, "import no_such_module\n\n\ndef test_bad(opcost):\n    pass\n")
        assert text.startswith("could not be collected:\n")
        assert text.endswith("E   ModuleNotFoundError: No module named 'no_such_module'")

    def test_a_mistaken_marker(self, suite: Project) -> None:
        text = self.failure(suite, "import pytest\n\n\n@pytest.mark.opcost(stepz=1)\ndef test_bad(opcost):\n    pass\n")
        assert "unknown argument stepz" in text

    def test_an_expected_failure(self, suite: Project) -> None:
        text = self.failure(
            suite, "import pytest\n\n\n@pytest.mark.xfail(reason='later')\ndef test_bad(opcost):\n    assert 1 == 2\n"
        )
        assert text.startswith("expected to fail (later), and did:\n")
        assert text.endswith("E   assert 1 == 2")

    def test_a_step_that_raises(self, suite: Project) -> None:
        text = self.failure(
            suite,
            "def step():\n    raise ValueError('no such layer')\n\n\ndef test_bad(opcost):\n    opcost.check(step)\n",
        )
        assert text.endswith("E   ValueError: no such layer")

    def test_a_test_that_measures_nothing(self, suite: Project) -> None:
        text = self.failure(suite, "def test_bad(opcost):\n    pass\n")
        assert text == "ended without a call of opcost.check"

    def test_a_test_that_is_not_there(self, suite: Project) -> None:
        text = self.failure(suite, "def test_good(opcost):\n    pass\n")
        assert text == "was not collected: test_bad.py is there and has no such test"

    def test_a_file_that_is_not_there(self, suite: Project) -> None:
        found = run_round(suite, tests=["gone.py::test_a", "test_model.py::test_model"])
        assert found.failures == {"gone.py::test_a": f"was not collected: there is no gone.py in {suite.path}"}
        assert found.profiles.keys() == {("test_model.py::test_model", None)}

    def test_no_file_is_there(self, suite: Project) -> None:
        found = run_round(suite, tests=["gone.py::test_a", "gone.py::test_b"])
        assert found.failures.keys() == {"gone.py::test_a", "gone.py::test_b"}


def test_a_test_that_is_expected_to_drift_is_none_of_them(suite: Project) -> None:
    suite.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.xfail(raises=AssertionError, strict=True)\n"
        "def test_model(opcost, step):\n    opcost.check(step)\n",
    )

    found = run_round(suite)

    assert found.failures == {}
    assert len(found.profiles) == 1
