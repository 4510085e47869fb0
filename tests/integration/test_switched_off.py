"""Without `--opcost` the plugin only skips, and costs nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .project import told

if TYPE_CHECKING:
    import pytest

    from .project import Project

_REASON = "measures operator costs: needs --opcost"

_SPY = """
import sys

EARLY = "pytest_opcost.plugin" in sys.modules
SEEN = []
WATCHED = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec", "os.system"}


def audit(event, args):
    if event in WATCHED or event.startswith("socket."):
        SEEN.append(event)


sys.addaudithook(audit)


def pytest_unconfigure():
    heavy = {"torch", "torchvision", "numpy", "yaml", "scipy", "tabulate", "tensorboard"} & set(sys.modules)
    print("PLUGIN", EARLY, "pytest_opcost.plugin" in sys.modules)
    print("HEAVY", sorted(heavy))
    print("STARTED", SEEN)
"""


def test_tests_with_the_fixture_are_skipped_with_the_reason(project: Project) -> None:
    result = project.run("-rs")

    result.assert_outcomes(skipped=1)
    assert _REASON in told(result)
    assert project.seam.calls == []
    assert "opcost: operator costs" not in result.stdout.str()


def test_tests_with_the_marker_alone_are_skipped(project: Project) -> None:
    project.write("test_model.py", "import pytest\n\n@pytest.mark.opcost\ndef test_it():\n    assert False\n")

    result = project.run("-rs")

    result.assert_outcomes(skipped=1)
    assert _REASON in told(result)


def test_tests_that_ask_for_the_fixture_late_are_skipped(project: Project) -> None:
    project.write("test_model.py", "def test_it(request):\n    request.getfixturevalue('opcost')\n    assert False\n")

    result = project.run("-rs")

    result.assert_outcomes(skipped=1)
    assert _REASON in told(result)


def test_other_tests_run_as_ever_and_no_file_is_written(project: Project) -> None:
    project.write("test_other.py", "def test_other():\n    pass\n")

    result = project.run()

    result.assert_outcomes(passed=1, skipped=1)
    assert not (project.path / "baselines").exists()


def test_with_opcost_the_same_tests_run(project: Project) -> None:
    project.run("--opcost").assert_outcomes(passed=1)
    assert len(project.seam.calls) == 6


def test_an_empty_project_pays_nothing_for_the_plugin(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(spy=_SPY)

    # What `-p` names is loaded before the entry points are: the spy sees the plugin come in.
    result = pytester.run(sys.executable, "-m", "pytest", "-p", "spy", "-p", "no:xdist", "--collect-only")

    result.stdout.fnmatch_lines(["PLUGIN False True", "HEAVY []", "STARTED []"])


def test_a_project_with_opcost_tests_pays_nothing_at_collection(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(spy=_SPY)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.opcost(tolerance=0.3)
        def test_model(opcost, opcost_device, opcost_batch_size, lenet_step):
            opcost.check(lenet_step)
        """
    )

    result = pytester.run(sys.executable, "-m", "pytest", "-p", "spy", "-p", "no:xdist", "--collect-only", "-q")

    result.stdout.fnmatch_lines(["*::test_model?cpu-1?", "PLUGIN False True", "HEAVY []", "STARTED []"])


def test_a_script_may_hand_paths_to_pytest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_x="def test_x():\n    pass\n")
    script = pytester.makepyfile(run="import pathlib, pytest\npytest.main([pathlib.Path('test_x.py')])\n")

    pytester.run(sys.executable, script).assert_outcomes(passed=1)
