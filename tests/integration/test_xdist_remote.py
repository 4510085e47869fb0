"""Workers of pytest-xdist on other machines: theirs is the machine that counts. Their chips are made up."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from .project import failures, summary, told

pytest.importorskip("xdist")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .project import Project

_B, _C = "cpu-chip-b-1-thread-torch2.9", "cpu-chip-c-1-thread-torch2.9"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for temporary files, and so for turns, that no other run knows."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture
def suite(suite: Project) -> Project:
    suite.checks("test_one", "test_two", "test_three", file="test_model.py")
    suite.write("pytest.ini", "[pytest]\n")  # sending files is deprecated in pytest-xdist, which says so each time
    return suite


def _run(suite: Project, *args: str) -> pytest.RunResult:
    return suite.pytester.run(sys.executable, "-m", "pytest", "--opcost", "--opcost-json=out.json", *args)


def _machines(suite: Project) -> set[str]:
    return {path.parent.name for path in suite.files()}


def test_each_worker_records_and_compares_on_its_own_machine(suite: Project) -> None:
    workers = [f"--tx=popen//env:FAKE_CHIP=Chip {name}" for name in "BC"]

    result = _run(suite, *workers, "--dist=each", "--opcost-rounds=1", "--opcost-update-baselines")

    result.assert_outcomes(passed=6)
    assert _machines(suite) == {_B, _C}
    assert len(suite.files()) == 6
    document = json.loads((suite.path / "out.json").read_text())
    assert {test["environment"]["device_name"] for test in document["tests"]} == {"Chip B", "Chip C"}
    assert "Chip A" not in told(result), "the controller's machine measured nothing"

    before = suite.files()
    suite.lenet(addmm=[2000.0, 2])
    result = _run(suite, *workers, "--dist=each", "--opcost-confirm=0")
    assert "opcost: 6 drifted" in summary(result)
    assert all(any(machine in message for machine in (_B, _C)) for message in failures(result))
    assert suite.files() == before


def test_the_page_names_the_machines_of_the_workers(suite: Project) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")

    _run(suite, "--tx=popen//env:FAKE_CHIP=Chip B", "--dist=load", "--opcost-html=page", "--opcost-rounds=0")

    page = (suite.path / "page" / "index.html").read_text("utf-8")
    assert "Chip B" in page
    assert "Chip A" not in page


@pytest.fixture
def server(suite: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server of execnet in another folder, as it would run on another host; yields how it is called."""
    folder: Path = tmp_path_factory.mktemp("elsewhere")
    code = (
        "import os\n"
        "os.environ['FAKE_CHIP'] = 'Chip B'\n"
        "from execnet.script import socketserver\n"
        "from execnet.gateway_base import get_execmodel\n"
        "socketserver.execmodel = get_execmodel('thread')\n"
        "server = socketserver.bind_and_listen(('127.0.0.1', 0), socketserver.execmodel)\n"
        "print(server.getsockname()[1], flush=True)\n"
        "socketserver.print_ = lambda *args: None\n"
        "socketserver.startserver(server, loop=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    yield f"socket=127.0.0.1:{process.stdout.readline().strip()}"
    process.kill()
    process.wait()
    process.stdout.close()
    assert not list(folder.rglob("baselines/*/*.tmp"))


def test_a_worker_behind_a_socket(suite: Project, server: str) -> None:
    """Its files are copies; baselines are read from its copy, and written by the controller to the originals."""
    there = (f"--tx={server}", "--dist=load", f"--rsyncdir={suite.path}", str(suite.path))

    result = _run(suite, "--opcost-rounds=1", *there)

    result.assert_outcomes(passed=3)
    assert _machines(suite) == {_B}
    before = suite.files()

    suite.lenet(test="test_two", addmm=[2000.0, 2])
    result = _run(suite, "--opcost-confirm=4", *there)

    result.assert_outcomes(passed=2, failed=1)
    assert "conv/addmm: 2, was 4" in told(result)
    assert suite.files() == before


def test_a_device_that_only_the_workers_have(suite: Project) -> None:
    """The controller does not look for it; a worker that lacks it says so."""
    conftest = (suite.path / "conftest.py").read_text()
    suite.write(
        "conftest.py",
        conftest + "\n\nimport os\nfrom pytest_opcost import seams\nfrom pytest_opcost.errors import DeviceError\n\n"
        "find = seams.find_environments\n\n\n"
        "def only_there(options):\n"
        "    if os.environ.get('FAKE_CHIP') != 'Chip B':\n"
        "        raise DeviceError('--opcost-device=cuda: no such device is visible.')\n"
        "    return find(options)\n\n\n"
        "seams.find_environments = only_there\n",
    )
    options = ("--device=cuda", "--dist=load", "--opcost-rounds=0")

    _run(suite, "--tx=popen//env:FAKE_CHIP=Chip B", *options).assert_outcomes(passed=3)

    result = _run(suite, "--tx=popen//env:FAKE_CHIP=Chip C", *options)
    assert result.ret != 0
    assert "--opcost-device=cuda: no such device is visible." in result.stdout.str() + result.stderr.str()
