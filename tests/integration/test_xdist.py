"""Under pytest-xdist the workers measure; the controller writes, counts and reports."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from .project import summary, told

pytest.importorskip("xdist")

if TYPE_CHECKING:
    from .project import Project


@pytest.fixture
def workers(project: Project) -> Project:
    """A project of four tests, ready to run in other processes."""
    project.installs_its_own_seam()
    project.checks("test_one", "test_two", "test_three")
    return project


def _run(project: Project, *args: str) -> pytest.RunResult:
    return project.pytester.run(sys.executable, "-m", "pytest", "-n", "2", *args)


def test_the_results_of_the_workers_reach_the_controller(workers: Project) -> None:
    result = _run(workers, "--opcost", "--opcost-json=out.json")

    result.assert_outcomes(passed=4)
    assert result.ret == 0
    assert "opcost: 4 recorded" in summary(result)
    assert told(result).count(": new") == 4
    assert len(workers.files()) == 4
    document = json.loads((workers.path / "out.json").read_text())
    assert sorted(test["test"] for test in document["tests"]) == [
        "test_model.py::test_model",
        "test_more.py::test_one",
        "test_more.py::test_three",
        "test_more.py::test_two",
    ]
    assert {test["verdict"] for test in document["tests"]} == {"recorded"}
    assert document["tests"][0]["ops"][0]["samples"] == [4000.0] * 5


def test_a_drift_fails_its_test_and_the_files_are_the_same_as_without_workers(workers: Project) -> None:
    before = workers.record()
    workers.lenet(test="test_two", addmm=[2000.0, 2])

    result = _run(workers, "--opcost", "--dist=loadgroup", "--opcost-prune-baselines")

    result.assert_outcomes(passed=3, failed=1)
    assert "opcost: 3 passed, 1 drifted" in summary(result)
    assert "conv/addmm: 2, was 4" in told(result)
    assert workers.files() == before


def test_the_group_of_a_test_is_no_part_of_its_baseline(workers: Project) -> None:
    workers.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.xdist_group('gpu')\n@pytest.mark.parametrize('size', [1, 2])\n"
        "def test_model(opcost, step, size):\n    opcost.check(step)\n",
    )
    before = workers.record()

    result = _run(workers, "--opcost", "--dist=loadgroup", "--opcost-missing=fail")

    result.assert_outcomes(passed=5)
    assert workers.files() == before


def test_only_the_controller_writes(workers: Project) -> None:
    """A worker that wrote would leave a file even where the controller cannot."""
    workers.write(
        "conftest.py",
        (workers.path / "conftest.py").read_text()
        + """

def pytest_configure(config):
    from pytest_opcost import storage

    def write(path, text):
        name = getattr(config, "workerinput", {}).get("workerid", "controller")
        with open("writers", "a") as file:
            file.write(name + "\\n")

    storage.write = write
""",
    )

    _run(workers, "--opcost").assert_outcomes(passed=4)

    assert (workers.path / "writers").read_text().splitlines() == ["controller"] * 4


def test_nothing_judged_fails_there_too(workers: Project) -> None:
    result = _run(workers, "--opcost", "-k", "nothing")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "nothing was judged" in told(result)


def test_a_missing_baseline_in_ci_fails_there_too(workers: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")

    result = _run(workers, "--opcost")

    result.assert_outcomes(failed=4)
    assert workers.files() == {}


def test_the_alias_reaches_the_workers(workers: Project) -> None:
    result = _run(workers, "--opcost", "--device=cuda", "test_model.py")

    result.assert_outcomes(passed=1)
    (path,) = workers.files()
    assert path.parent.name == "cuda-chip-a-torch2.9"


def test_a_mistaken_marker_is_a_clear_error_there_too(workers: Project) -> None:
    workers.write(
        "test_model.py",
        "import pytest\n\n\n@pytest.mark.opcost(tolerence=1)\ndef test_model(opcost):\n    pass\n",
    )

    result = _run(workers, "--opcost")

    assert result.ret not in (0, 5)
    text = result.stdout.str() + result.stderr.str()
    assert "@pytest.mark.opcost of test_model.py::test_model: unknown argument tolerence." in text


@pytest.mark.parametrize("dist", ["load", "loadfile", "loadscope", "loadgroup", "worksteal"])
def test_however_tests_are_shared_out_baselines_are_the_same(workers: Project, dist: str) -> None:
    workers.write(
        "test_grouped.py",
        "import pytest\n\n\n@pytest.mark.xdist_group('a group')\n"
        "@pytest.mark.parametrize('address', ['a@b', '[c]'])\n"
        "def test_grouped(opcost, step, address):\n    opcost.check(step, name='first')\n\n\n"
        "class TestGrouped:\n    def test_method(self, opcost, step):\n        opcost.check(step)\n",
    )
    before = workers.record()

    result = _run(workers, "--opcost", f"--dist={dist}", "--opcost-missing=fail")

    result.assert_outcomes(passed=7)
    assert "opcost: 7 passed" in summary(result)
    assert workers.files() == before


def test_workers_turn_their_cards_before_any_conftest_and_only_with_opcost(
    workers: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a conftest has asked CUDA for anything, it knows its cards."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    workers.write("four_cards.py", "from pytest_opcost import cards\n\ncards._count = lambda: 4\n")
    conftest = (workers.path / "conftest.py").read_text()
    seen = "import os\nCARDS = os.environ.get('CUDA_VISIBLE_DEVICES', 'as they were')\n"
    workers.write("conftest.py", conftest + seen)
    workers.write(
        "test_model.py",
        "import pathlib\nimport pytest\nfrom conftest import CARDS\n\n\n@pytest.mark.parametrize('n', [0, 1])\n"
        "def test_cards(n, worker_id):\n    pathlib.Path('cards-' + worker_id).write_text(CARDS)\n",
    )

    def cards(*args: str) -> list[str]:
        _run(workers, "-p", "four_cards", "--dist=load", "test_model.py", *args).assert_outcomes(passed=2)
        return [path.read_text() for path in sorted(workers.path.glob("cards-gw*"))]

    assert cards("--opcost", "--opcost-device=cuda") == ["0,1,2,3", "1,2,3,0"]
    assert cards("--opcost", "--opcost-device=cuda:1") == ["as they were"] * 2
    assert cards("-k", "not cuda") == ["as they were"] * 2
