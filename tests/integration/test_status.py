"""The line that tells on a terminal what is measured: which test, which round, how long; and nowhere else."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.turns import Turns

from .terminals import on_a_terminal

pytest.importorskip("fcntl")

if TYPE_CHECKING:
    from pathlib import Path

    from .project import Project

#: What is drawn: the rest of the line is cleared, and the cursor goes back by as much as the text is long.
_DRAWN = re.compile(r"\x1b\[K( [^\x1b]+)\x1b\[(\d+)D")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")

#: In a round, a test that goes on when the file `named` is there.
_WAITS = """
import pathlib
import time

from pytest_opcost import plugin


def test_one(opcost, step):
    opcost.check(step)


def test_two(opcost, step, request):
    deadline = time.monotonic() + 60
    while request.config.stash[plugin.OPTIONS].only_measure and not pathlib.Path("named").exists():
        assert time.monotonic() < deadline, "it was not named"
        time.sleep(0.01)
    opcost.check(step)
"""


def _shown(text: str) -> list[str]:
    """The texts that were shown; none may remain, and none may be longer than what was left of its line."""
    text = _COLOURS.sub("", text)
    for line in text.split("\n"):
        before = _DRAWN.sub("", line.split("\r")[0])
        assert all(len(before.partition("\x1b")[0]) + len(told) <= 80 for told, _ in _DRAWN.findall(line))
    assert all(len(told) == int(back) for told, back in _DRAWN.findall(text))
    rest = _DRAWN.sub("\0", text)
    assert rest.rfind("\x1b[K") > rest.rfind("\0"), "the last one was left on the screen"
    return [told.strip() for told, _ in _DRAWN.findall(text)]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for temporary files, and so for turns, that no other run knows."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture
def suite(suite: Project) -> Project:
    suite.write("test_model.py", _WAITS)
    return suite


def test_recording_tells_the_test_the_round_and_the_time_left(suite: Project) -> None:
    def meanwhile(text: str) -> None:
        if "test_two: recording, round 1 of 3, " in text:
            (suite.path / "named").touch()

    shown = _shown(on_a_terminal(suite, "--opcost", "--opcost-rounds=3", meanwhile=meanwhile))

    assert shown[0] == "test_one: measuring"
    assert "test_one: recording, round 1 of 3" in shown
    assert any(re.fullmatch(r"test_two: recording, round 1 of 3, \d+ s left", text) for text in shown)
    assert any(re.fullmatch(r"test_\w+: recording, round 3 of 3, \d+ s left", text) for text in shown)


def test_confirming_tells_how_many_processes_there_may_be(suite: Project) -> None:
    suite.checks("test_one", file="test_model.py")
    suite.pytester.run(sys.executable, "-m", "pytest", "--opcost", "--opcost-rounds=4")
    suite.lenet(max_pool2d_with_indices=3200.0)

    shown = _shown(on_a_terminal(suite, "--opcost", "--opcost-confirm=4", status=1))

    assert "test_one: confirming, round 1 of at most 4" in shown
    assert any(re.fullmatch(r"test_one: confirming, round 2 of at most 4, at most \d+ s left", text) for text in shown)


def test_waiting_for_a_turn_names_the_process_that_measures(suite: Project) -> None:
    waits = f"test_one: waits for its turn, process {os.getpid()} measures"
    held = ExitStack()
    held.enter_context(Turns().on(["cpu"]))

    def meanwhile(text: str) -> None:
        if waits in text:
            held.close()

    assert waits in _shown(on_a_terminal(suite, "--opcost", "--opcost-rounds=0", meanwhile=meanwhile))


def test_what_a_test_prints_is_not_mixed_with_it(suite: Project) -> None:
    """With -s a test writes to the same line; only while a round runs elsewhere is the line ours."""
    (suite.path / "named").touch()

    for option in ("-s", "--log-cli-level=INFO"):
        shown = _shown(on_a_terminal(suite, "--opcost-update-baselines", "--opcost-rounds=1", option))
        assert "test_one: recording, round 1 of 1" in shown
        assert "test_one: measuring" not in shown


def test_a_full_line_is_ended_first(suite: Project) -> None:
    plain = "import pytest\n\n\n@pytest.mark.parametrize('n', range(45))\ndef test_plain(n):\n    pass\n\n\n"
    suite.write("test_model.py", plain + "def test_one(opcost, step):\n    opcost.check(step)\n")

    text = on_a_terminal(suite, "--opcost", "--opcost-rounds=0")

    assert _shown(text) == ["test_one: measuring"]
    assert f"{'.' * 45}\r\n\x1b[K test_one" in _COLOURS.sub("", text)


@pytest.mark.parametrize(
    ("options", "environment"),
    [(("-q",), {}), (("-p", "no:terminal"), {}), ((), {"CI": "true"}), (("-n", "1"), {})],
    ids=["quiet", "without a reporter", "CI", "xdist"],
)
def test_where_nobody_looks_nothing_is_drawn(
    suite: Project, options: tuple[str, ...], environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "-n" in options:
        pytest.importorskip("xdist")
    (suite.path / "named").touch()
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    text = on_a_terminal(suite, "--opcost-update-baselines", "--opcost-rounds=1", *options)

    assert "measuring" not in text
    assert ", round " not in text


@pytest.mark.parametrize("options", [(), ("-s",), ("-v", "--color=yes")])
def test_nothing_is_drawn_where_the_output_is_no_terminal(suite: Project, options: tuple[str, ...]) -> None:
    (suite.path / "named").touch()

    result = suite.pytester.run(
        sys.executable, "-m", "pytest", "--opcost-update-baselines", "--opcost-rounds=1", *options
    )

    result.assert_outcomes(passed=2)
    text = result.stdout.str() + result.stderr.str()
    assert "measuring" not in text
    assert ", round " not in text
    assert "\x1b[K" not in text
