"""`--opcost-base`: head judged against another commit, both measured in fresh processes that take turns."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_opcost.fresh import MORE_REPETITIONS
from pytest_opcost.merging import REPETITIONS
from pytest_opcost.rounds.child import MOST_ON_DEVICE

from .project import failure, summary, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from .project import Project

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(project: Project, *args: str) -> str:
    names = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    answer = subprocess.run(["git", *names, *args], cwd=project.path, check=True, capture_output=True, text=True)
    return answer.stdout


@pytest.fixture
def committed(suite: Project) -> Project:
    """A project whose state is committed."""
    suite.write(".gitignore", "__pycache__/\n.pytest_cache/\n")
    git(suite, "init", "-q")
    git(suite, "add", "-A")
    git(suite, "commit", "-qm", "What it was")
    return suite


def state(project: Project) -> tuple[str, ...]:
    return tuple(
        git(project, *args) for args in (("status", "--porcelain"), ("worktree", "list"), ("log", "--oneline"))
    )


def test_what_the_working_tree_made_dearer_fails_and_names_the_base(committed: Project) -> None:
    committed.lenet(gelu=[2400.0, 3])
    before = state(committed)

    result = committed.run("--opcost", "--opcost-base=HEAD")

    result.assert_outcomes(failed=1)
    message = failure(result)
    assert "drifted from its base, measured" in message
    assert "- aten::gelu (elementwise): 2,400 us a step, was 1,500 us (+60 %)" in message
    assert "Compared with HEAD (" in message
    assert "What it was), measured beside it" in message
    assert "--opcost-update-baselines" not in message
    assert state(committed) == before
    assert committed.files() == {}


def test_a_base_is_enough_to_measure_unless_it_stands_for_every_run(
    committed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed.lenet(clone=5.0)

    committed.run("--opcost-base=HEAD").assert_outcomes(failed=1)

    monkeypatch.setenv("PYTEST_ADDOPTS", "--opcost-base=HEAD")
    committed.run().assert_outcomes(skipped=1)
    committed.run("--opcost").assert_outcomes(failed=1)


def test_a_quiet_run_tells_the_base_the_pairs_and_the_figure(committed: Project) -> None:
    commit = git(committed, "rev-parse", "HEAD")[:9]

    assert summary(committed.run("--opcost", "--opcost-base=HEAD", "-q"))[-2:] == [
        "opcost: 1 passed",
        f"opcost: against HEAD ({commit}) in 5 pairs: nothing moved",
    ]
    committed.lenet(gelu=[2400.0, 3])
    assert summary(committed.run("--opcost", "--opcost-base=HEAD", "-q"))[-3:] == [
        "opcost: 1 drifted",
        f"opcost: against HEAD ({commit}) in 5 pairs: aten::gelu +60 % (2,400 us a step,",
        "        was 1,500 us)",
    ]


def test_pairs_that_do_not_compare_are_measured_too(committed: Project) -> None:
    committed.write(
        "test_model.py",
        f"""
import pathlib

HERE, COUNT = pathlib.Path(__file__), pathlib.Path({str(committed.path / "count.txt")!r})


def test_model(opcost, step):
    if 'pytest-opcost-base' not in str(HERE):
        COUNT.write_text((COUNT.read_text() if COUNT.exists() else "") + "1")
    # A neighbour shares the core in one round of head's.
    pace = 2.0 if 'pytest-opcost-base' not in str(HERE) and len(COUNT.read_text()) == 3 else 1.0
    opcost.check(lambda: step() | {{"pace_us": pace}})
""",
    )
    git(committed, "add", "-A")
    git(committed, "commit", "-qm", "Share the core")

    result = committed.run("--opcost", "--opcost-base=HEAD")

    result.assert_outcomes(passed=1)
    assert summary(result)[-1].endswith(" in 5 pairs: nothing moved")


def test_what_the_run_itself_holds_is_told_with_what_helps_here(committed: Project) -> None:
    """Without fresh processes there would be no pairs."""
    committed.write(
        "test_model.py",
        f"""
import os

LOCK = {str(committed.path / "lock")!r}


def test_model(opcost, step):
    os.close(os.open(LOCK, os.O_CREAT | os.O_EXCL))
    try:
        opcost.check(step)
    finally:
        os.remove(LOCK)
""",
    )
    git(committed, "commit", "-qam", "Take a lock")

    message = failure(committed.run("--opcost", "--opcost-base=HEAD"))

    assert "could not be measured in a fresh process" in message
    assert "FileExistsError" in message
    assert "Give it a port or a file of its own each time, or let go of it before the check." in message
    assert "--opcost-confirm=0" not in message


def test_on_a_device_each_of_several_times_counts(committed: Project) -> None:
    """One of four times that is far dearer moves no median, as it would their mean. The CPU is measured once."""
    committed.write(
        "test_model.py",
        f"""
import os
import pathlib

HERE, EVENTS = pathlib.Path(__file__), pathlib.Path({str(committed.path / "events.txt")!r})


def test_model(opcost, step, opcost_device, request):
    repetition = request.config.pluginmanager.get_plugin("opcost-run").options.repetition
    dear = 'pytest-opcost-base' not in str(HERE) and repetition == 1
    with EVENTS.open("a") as file:
        file.write(f"{{os.getpid()}} {{opcost_device}} {{repetition}}\\n")
    costs = step()
    opcost.check(lambda: costs | {{"ops": costs["ops"] | {{"aten::gelu": [2400.0 if dear else 1500.0, 3]}}}})
""",
    )
    git(committed, "add", "-A")
    git(committed, "commit", "-qm", "Take a device")

    result = committed.run("--opcost", "--opcost-base=HEAD", "--opcost-device=cpu,cuda")

    result.assert_outcomes(passed=2)
    assert summary(result)[-1].endswith(" in 5 pairs: nothing moved")
    events = [line.split() for line in (committed.path / "events.txt").read_text().splitlines()]
    there = {pid for pid, _, _ in events} - {str(os.getpid())}
    assert len(there) == 2 * 5
    for pid in there:
        repetitions = [number for one, device, number in events if (one, device) == (pid, "cuda")]
        assert repetitions == [str(number) for number in range(REPETITIONS)]
        assert [number for one, device, number in events if (one, device) == (pid, "cpu")] == ["None"]


@pytest.mark.parametrize(("device", "times"), [("cpu", MORE_REPETITIONS), ("cuda", MOST_ON_DEVICE)])
def test_a_suspicion_is_confirmed_by_few_processes_that_repeat_it_often(
    committed: Project, device: str, times: int
) -> None:
    """Of 4 % five pairs of processes are never certain."""
    committed.write(
        "test_model.py",
        f"""
import os
import pathlib

HERE, EVENTS = pathlib.Path(__file__), pathlib.Path({str(committed.path / "events.txt")!r})


def test_model(opcost, step, request):
    options = request.config.pluginmanager.get_plugin("opcost-run").options
    with EVENTS.open("a") as file:
        file.write(f"{{os.getpid()}} {{options.repetition}}\\n")
    costs = step()
    us = 1500.0 if 'pytest-opcost-base' in str(HERE) else 1560.0
    opcost.check(lambda: costs | {{"ops": costs["ops"] | {{"aten::gelu": [us, 3]}}}})
""",
    )
    git(committed, "add", "-A")
    git(committed, "commit", "-qm", "Note repetitions")

    result = committed.run("--opcost", "--opcost-base=HEAD", f"--opcost-device={device}")

    assert "aten::gelu (elementwise): 1,560 us a step, was 1,500 us (+4.0 %)" in failure(result)
    events = [line.split() for line in (committed.path / "events.txt").read_text().splitlines()]
    counts = Counter(pid for pid, repetition in events if repetition != "None")
    assert sorted(counts.values()) == [REPETITIONS] * 2 * 5 + [times] * (len(counts) - 2 * 5)
    assert 2 * 5 < len(counts) <= 2 * 12


def test_the_summary_has_the_figures_that_were_judged(committed: Project) -> None:
    """Those of the pairs that compare."""
    committed.write(
        "test_model.py",
        """
def test_model(opcost, step, request):
    options = request.config.pluginmanager.get_plugin("opcost-run").options
    costs = step()
    if 'pytest-opcost-base' not in __file__:
        turn = options.turn or 0
        costs["ops"] = costs["ops"] | {"aten::mkldnn_convolution": [[5000.0, 5100.0, 5200.0, 5300.0, 9000.0][turn], 2]}
        costs["pace_us"] = 2.0 if turn == 4 else 1.0
    else:
        costs["pace_us"] = 1.0
    opcost.check(lambda: costs)
""",
    )
    git(committed, "commit", "-qam", "Cost more")

    result = committed.run("--opcost", "--opcost-base=HEAD", "--opcost-confirm=5")

    assert "conv/addmm: 5.15, was 4 (+29 %)" in failure(result)
    assert "conv/addmm 5.15 (was 4)" in told(result)


def test_an_exact_change_is_named(committed: Project) -> None:
    committed.lenet(clone=5.0)

    assert "- aten::clone (copy) is new: 1 call a step (was 0)" in failure(
        committed.run("--opcost", "--opcost-base=HEAD")
    )


def test_an_unchanged_tree_passes(committed: Project) -> None:
    result = committed.run("--opcost", "--opcost-base=HEAD")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 passed" in summary(result)
    assert "conv/addmm 4 (was 4)" in told(result)


def test_a_test_that_the_base_has_not_is_not_judged_and_the_others_are(committed: Project) -> None:
    committed.checks("test_new", file="test_new.py")

    result = committed.run("--opcost", "--opcost-base=HEAD")

    result.assert_outcomes(passed=2)
    assert "opcost: 1 passed, 1 not judged" in summary(result)
    assert "has no figures of it: was not collected: there is no test_new.py" in told(result)


def test_a_base_whose_test_fails_is_said_with_its_reason(committed: Project) -> None:
    committed.write("test_model.py", "def test_model(opcost, step):\n    assert 1 == 2, 'broken then'\n")
    git(committed, "commit", "-qam", "Broken")
    committed.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step)\n    # mended\n")

    result = committed.run("--opcost", "--opcost-base=HEAD")

    assert result.ret == pytest.ExitCode.TESTS_FAILED  # nothing was judged
    assert "has no figures of it" in told(result)
    assert "broken then" in told(result)


def test_a_base_that_cannot_begin_is_not_judged_with_its_reason(committed: Project) -> None:
    whole = (committed.path / "conftest.py").read_text()
    committed.write("conftest.py", "raise RuntimeError('broken conftest')\n")
    committed.checks("test_more")
    git(committed, "add", "-A")
    git(committed, "commit", "-qm", "Broken")
    committed.write("conftest.py", whole)

    result = committed.run("--opcost", "--opcost-base=HEAD")

    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED  # nothing was judged
    text = told(result)
    assert text.count("has no figures of it: no round on base: pytest, run by ") == 2
    assert text.count("broken conftest") >= 2
    assert "Try it by hand: in a checkout of it: " in text
    assert "at least one opcost test that ran and has figures of the base to compare with" in text


def _failing(committed: Project, where: str) -> pytest.RunResult:
    """A run in which the test fails from its second round on where the folder's path has or lacks a word."""
    committed.write(
        "test_model.py",
        f"""
import pathlib

HERE, COUNT = pathlib.Path(__file__), pathlib.Path({str(committed.path / "count.txt")!r})


def test_model(opcost, step):
    opcost.check(step)
    if {where}:
        COUNT.write_text((COUNT.read_text() if COUNT.exists() else "") + "1")
        assert len(COUNT.read_text()) < 2, "only once"
""",
    )
    git(committed, "add", "-A")
    git(committed, "commit", "-qm", "Fails at times")
    return committed.run("--opcost", "--opcost-base=HEAD")


def test_too_few_rounds_of_the_base_judge_nothing(committed: Project) -> None:
    result = _failing(committed, "'pytest-opcost-base' in str(HERE)")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 not judged" in summary(result)
    assert "has only 2 of 5 rounds of it: failed:" in told(result)


def test_a_head_that_fails_at_times_is_an_error(committed: Project) -> None:
    result = _failing(committed, "'pytest-opcost-base' not in str(HERE)")

    result.assert_outcomes(failed=1)
    assert "RoundError: test_model.py::test_model could not be measured in a fresh process" in failure(result)
    assert "only once" in failure(result)


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "generated"])
def test_a_base_that_lacks_what_a_build_made_says_so(committed: Project, *, compiled: bool) -> None:
    extension = getattr(math, "__file__", None)
    if compiled and extension is None:
        pytest.skip("this Python has no extension to copy")
    name, module = (Path(extension or "").name, "math") if compiled else ("native.py", "native")
    committed.write(".gitignore", f"__pycache__/\n.pytest_cache/\n{name}\n")
    committed.write("pkg/__init__.py", f"from pkg import {module}\n")
    if compiled:
        shutil.copy(extension or "", committed.path / "pkg")
    else:
        committed.write(f"pkg/{name}", "")
    committed.write("test_model.py", "import pkg\n\ndef test_model(opcost, step):\n    opcost.check(step)\n")
    git(committed, "add", "-A")
    git(committed, "commit", "-qm", "Use what is built")
    before = state(committed)

    result = committed.run("--opcost", "--opcost-base=HEAD")

    assert result.ret == pytest.ExitCode.TESTS_FAILED  # nothing was judged
    text = told(result)
    assert f"cannot import name '{module}' from" in text
    assert "A build made this in your tree, and git does not have it" in text
    assert f"- pkg.{module} ({committed.path}/pkg/{name}" in text
    assert ("a compiled extension" in text) is compiled
    assert "pytest --opcost --opcost-baselines=FOLDER" in text
    assert state(committed) == before


def test_a_base_that_fails_otherwise_is_told_nothing_of_builds(committed: Project) -> None:
    committed.write(".gitignore", "__pycache__/\n.pytest_cache/\nbuilt.py\n")
    committed.write("built.py", "")
    committed.write("test_model.py", "def test_model(opcost, step):\n    assert 1 == 2, 'broken then'\n")
    git(committed, "add", "-A")
    git(committed, "commit", "-qm", "Broken")
    committed.write("test_model.py", "import built\n\ndef test_model(opcost, step):\n    opcost.check(step)\n")

    text = told(committed.run("--opcost", "--opcost-base=HEAD"))

    assert "broken then" in text
    assert "A build made this" not in text


@pytest.mark.parametrize(
    ("args", "found", "expected"),
    [
        (["--opcost-base=no-such-branch"], "no-such-branch: there is no such commit", "git branch --all"),
        (["--opcost-base-python=/no/such/python"], "/no/such/python", "Expected"),
        (
            ["--opcost-base=HEAD", "--opcost-update-baselines"],
            "--opcost-base judges against what is measured now",
            "one of",
        ),
        (["--opcost-base=HEAD", "--opcost-rounds=3"], "could never find a change of cost", "4 pairs or more"),
        (["--opcost-confirm=3"], "--opcost-confirm=3 could never confirm anything", "4 or more (default 12), or 0"),
        (["--opcost-base=HEAD", "-n2"], "pytest-xdist runs tests at the same time", "one test at a time"),
    ],
)
def test_what_makes_no_sense_is_refused(committed: Project, args: list[str], found: str, expected: str) -> None:
    if "-n2" in args:
        pytest.importorskip("xdist")
    before = state(committed)

    result = committed.run("--opcost", *args)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stderr.str() + result.stdout.str()
    assert found in text
    assert expected in text
    assert state(committed) == before


class TestAgainstAnotherInterpreter:
    """This one stands in for it, with the last commit's costs: it is asked and run alike."""

    @pytest.fixture(autouse=True)
    def _needs_torch(self) -> None:
        pytest.importorskip("torch")

    @pytest.fixture
    def upgraded(self, committed: Project) -> Callable[..., pytest.RunResult]:
        """A run in which convolutions have another name than in the base, and cost this much."""

        def run(us: float, *args: str, **changes: Any) -> pytest.RunResult:
            committed.lenet(mkldnn_convolution=None, onednn_convolution=[us, 3], **changes)
            return committed.run("--opcost", "--opcost-base=HEAD", *args)

        return run

    def test_what_has_another_name_is_told_and_passes(self, upgraded: Callable[..., pytest.RunResult]) -> None:
        result = upgraded(4000.0, f"--opcost-base-python={sys.executable}")

        result.assert_outcomes(passed=1)
        assert "conv now runs as aten::onednn_convolution (was aten::mkldnn_convolution)" in told(result)
        assert "conv/addmm 4 (was 4)" in told(result)

    def test_between_commits_alone_it_fails(self, upgraded: Callable[..., pytest.RunResult]) -> None:
        upgraded(4000.0).assert_outcomes(failed=1)

    def test_it_fails_where_it_is_dearer(self, upgraded: Callable[..., pytest.RunResult]) -> None:
        result = upgraded(6000.0, f"--opcost-base-python={sys.executable}")

        result.assert_outcomes(failed=1)
        message = failure(result)
        assert "Cause: aten::mkldnn_convolution became aten::onednn_convolution, 6,000 us a step (was 4,000" in message
        assert "- aten::onednn_convolution (conv): 6,000 us a step, was 4,000 us (+50 %)" in message

    def test_an_operator_that_is_new_fails(self, upgraded: Callable[..., pytest.RunResult]) -> None:
        result = upgraded(4000.0, f"--opcost-base-python={sys.executable}", clone=5.0)

        result.assert_outcomes(failed=1)
        assert "- aten::clone (copy) is new: 1 call a step (was 0)" in failure(result)


def test_another_interpreter_alone(committed: Project) -> None:
    pytest.importorskip("torch")
    result = committed.run("--opcost", f"--opcost-base-python={sys.executable}")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 passed" in summary(result)
