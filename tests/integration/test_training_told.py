"""What becomes of the record of a training: it reaches the reports, whichever process made it and however that ends."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from .project import summary, told

if TYPE_CHECKING:
    from .project import Project

_TRAINS = """
import pytest
from pytest_opcost.costs import Environment
from pytest_opcost.training import Training


@pytest.fixture
def training(request):
    cpu = Environment("cpu", "Chip A", "x86_64", "2.9.1", 1, "quiet", (("threads", "1"),))
    def keep(name, **more):
        record = Training(
            name, "LeNet", "cpu", 16, 2, 60000, 10000, cpu, "MNIST",
            **{"steps": (1, 2), "losses": (2.5, 1.25), "accuracies": (0.25, 0.75), "test_losses": (1.5, 0.125),
               "test_accuracies": (0.5, 0.97125), "epoch_seconds": (2.5, 1.5), **more},
        )
        request.config.pluginmanager.get_plugin("opcost-run").keep_training(record)
    return keep


"""
_TWO = "def test_one(training):\n    training('one')\n\n\ndef test_two(training):\n    training('two')\n"


def _trainings(project: Project) -> list[dict[str, Any]]:
    document = json.loads((project.path / "out.json").read_text("utf-8"))
    return sorted(document["trainings"], key=lambda one: str(one["test"]))


def test_a_training_is_told_on_the_terminal_and_in_the_file(project: Project) -> None:
    project.write("test_model.py", _TRAINS + _TWO)

    result = project.run("--opcost", "--opcost-json=out.json")

    result.assert_outcomes(passed=2)
    assert [line for line in summary(result) if line][:3] == [
        "trained  one",
        "    LeNet on cpu, batch 16, 2 epochs, test accuracy 97.12 %, mean test loss",
        "    0.1250, 2 s an epoch, eager",
    ]
    one, two = _trainings(project)
    assert (one["test"], two["test"]) == ("one", "two")
    assert one["losses"] == [2.5, 1.25]


def test_a_run_that_only_trains_need_not_judge_anything(project: Project) -> None:
    project.write("test_model.py", _TRAINS + _TWO)

    result = project.run("--opcost")

    assert result.ret == 0
    assert "nothing was judged" not in told(result)


@pytest.mark.parametrize("workers", [False, True], ids=["one process", "xdist"])
def test_a_training_is_no_excuse_for_checks_that_judged_nothing(project: Project, workers: bool) -> None:
    project.write("test_model.py", _TRAINS + _TWO)
    project.checks("test_check")
    project.installs_its_own_seam()
    if workers:
        pytest.importorskip("xdist")

    options = ["-n", "2"] * workers
    result = project.pytester.run(sys.executable, "-m", "pytest", "--opcost", "--opcost-missing=report", *options)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "nothing was judged" in told(result)


def test_trainings_of_the_workers_reach_the_controller(project: Project) -> None:
    pytest.importorskip("xdist")
    project.installs_its_own_seam()
    project.write("test_model.py", _TRAINS + _TWO)

    result = project.pytester.run(sys.executable, "-m", "pytest", "-n", "2", "--opcost", "--opcost-json=out.json")

    result.assert_outcomes(passed=2)
    assert result.ret == 0
    assert [one["test"] for one in _trainings(project)] == ["one", "two"]
    assert "trained one LeNet on cpu" in told(result)


@pytest.mark.parametrize(
    ("epochs_done", "line"),
    [
        (1, "interrupted one LeNet on cpu, batch 16, 1 of 2 epochs, test accuracy 50.00 %, mean test loss 1.5000,"),
        (0, "interrupted one LeNet on cpu, batch 16, 0 of 2 epochs, training loss 1.2500 after 2 steps, eager"),
    ],
)
def test_ctrl_c_in_a_test_keeps_its_training(project: Project, epochs_done: int, line: str) -> None:
    project.write(
        "test_model.py",
        _TRAINS
        + "def test_one(training):\n"
        + f"    done = dict(test_losses=(1.5,)[:{epochs_done}], test_accuracies=(0.5,)[:{epochs_done}],\n"
        + f"                epoch_seconds=(2.5,)[:{epochs_done}])\n"
        + "    training('one', interrupted=True, **done)\n    raise KeyboardInterrupt\n\n\n"
        + "def test_two(training):\n    training('two')\n",
    )

    result = project.pytester.runpytest_inprocess("--opcost", "--opcost-json=out.json", no_reraise_ctrlc=True)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    (one,) = _trainings(project)
    assert one["interrupted"]
    assert line in told(result)


def test_a_test_that_fails_after_its_training_keeps_it(project: Project) -> None:
    project.write("test_model.py", _TRAINS + "def test_one(training):\n    training('one')\n    assert False\n")

    result = project.run("--opcost", "--opcost-json=out.json")

    result.assert_outcomes(failed=1)
    assert len(_trainings(project)) == 1
