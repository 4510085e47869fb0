"""A user's project to run pytest in, and how to read what the run said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from . import fake_seam
from .fake_seam import LENET, FakeSeam

INI = "[pytest]\naddopts = --strict-markers --strict-config\nfilterwarnings =\n  error\n"

_CONFTEST = '''
import json
from pathlib import Path
import pathlib

import pytest

COSTS = pathlib.Path(__file__).with_name("costs.json")


@pytest.fixture
def step(request):
    """A step that costs what costs.json says of this test, or of all tests."""

    def run():
        costs = json.loads(COSTS.read_text())
        return costs.get(request.node.name) or costs["*"]

    return run
'''

_ONE_CHECK = """
def test_model(opcost, step):
    opcost.check(step)
"""


class Project:
    """A user's project: `test_model.py` with one check, and a way to say what its steps cost."""

    def __init__(self, pytester: pytest.Pytester, seam: FakeSeam) -> None:
        self.pytester, self.seam, self.path = pytester, seam, pytester.path
        self.write("pytest.ini", INI)
        self.write("conftest.py", _CONFTEST)
        self.write("test_model.py", _ONE_CHECK)
        self.costs()

    def write(self, name: str, text: str) -> Path:
        """A file of the project. A module that is written again needs another length, or its old bytecode is used."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def ini(self, *lines: str) -> None:
        """Add lines to pytest.ini."""
        self.write("pytest.ini", INI + "\n".join(lines) + "\n")

    def checks(self, *names: str, file: str = "test_more.py") -> None:
        """A file with a test for each name, each with one check."""
        self.write(file, "".join(f"def {name}(opcost, step):\n    opcost.check(step)\n\n\n" for name in names))

    def costs(self, ops: dict[str, Any] | None = None, *, test: str = "*", **more: Any) -> None:
        """From now on a step of `test` ("*": of every test without costs of its own) costs this: see `fake_seam`."""
        path = self.path / "costs.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        known[test] = {"ops": LENET if ops is None else ops, **more}
        path.write_text(json.dumps(known))

    def lenet(self, *, test: str = "*", **changes: Any) -> None:
        """As `costs`, for LeNet's operators with some replaced or new; None takes one away."""
        changed = LENET | {f"aten::{name}": cost for name, cost in changes.items()}
        self.costs({name: cost for name, cost in changed.items() if cost is not None}, test=test)

    def installs_its_own_seam(self) -> None:
        """Let the project's conftest install the fake seam, for a run in other processes."""
        fake = Path(fake_seam.__file__).read_text("utf-8")
        self.write("fake_seam.py", fake)
        self.write("conftest.py", f"import fake_seam\n\nfake_seam.install()\n{_CONFTEST}")

    def run(self, *args: str | Path) -> pytest.RunResult:
        """`pytest` in this process, where the seam is the fake one."""
        return self.pytester.runpytest_inprocess(*args)

    def gets_in_the_way(self, *names: str) -> None:
        """A test that puts files where reports are to be written, once it is known that they can be."""
        puts = "".join(f"    Path({name!r}).write_text('in the way')\n" for name in names)
        self.write("test_in_the_way.py", f"from pathlib import Path\n\n\ndef test_puts_files():\n{puts}")

    def record(self, *args: str | Path) -> dict[Path, str]:
        """Record baselines; all files with their text."""
        result = self.run("--opcost-update-baselines", *args)
        assert result.ret == pytest.ExitCode.OK
        self.seam.calls.clear()
        return self.files()

    def files(self, folder: str = "baselines") -> dict[Path, str]:
        """All files below a folder, with their text."""
        return {path: path.read_text("utf-8") for path in sorted((self.path / folder).rglob("*")) if path.is_file()}


def told(result: pytest.RunResult) -> str:
    """What the run printed, on one line: how it was wrapped does not matter."""
    return " ".join(result.stdout.str().split())


def failures(result: pytest.RunResult) -> list[str]:
    """The messages of what failed, without pytest's `E` in front."""
    messages: list[str] = []
    inside = False
    for line in result.outlines:
        if line.startswith("E  "):
            messages += [] if inside else [""]
            messages[-1] += line[1:].strip() + "\n"
        inside = line.startswith("E  ")
    return messages


def failure(result: pytest.RunResult) -> str:
    """The message of the one test that failed."""
    (message,) = failures(result)
    return message


def summary(result: pytest.RunResult) -> list[str]:
    """The lines of the plugin's own section of the terminal summary."""
    lines = result.outlines
    starts = [index for index, line in enumerate(lines) if " opcost: operator costs " in line]
    assert len(starts) == 1
    section = lines[starts[0] + 1 :]
    ends = (index for index, line in enumerate(section) if line.startswith("====") or " passed in " in line)
    return section[: next(ends)]
