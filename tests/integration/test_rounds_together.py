"""Rounds whose processes start side by side and measure one after the other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

from pytest_opcost import fresh, plugin, rounds, seams
from pytest_opcost.errors import RoundError
from pytest_opcost.measuring import Course
from pytest_opcost.merging import REPETITIONS
from pytest_opcost.rounds import gate, process

from .project import summary
from .rounds import alive

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from .project import Project

_TEST = "test_model.py::test_model"
#: As it is before the fixture `seam` fakes it.
_RECORDED_ROUNDS = seams.recorded_rounds
_EVENTS = """
import os
import sys
import time
from pathlib import Path


def note(what):
    with Path(__file__).with_name("events").open("a") as file:
        file.write(f"{os.getpid()} {what} {'slow' in sys.modules}\\n")


note("collected")


def test_model(opcost, step):
    note("begins")
    time.sleep(0.3)
    opcost.check(step)
    note("ends")
"""


def _measuring_in_turns(before: str = "pass", after: str = "pass") -> str:
    """A test that does what a measurement by the seam does not: it measures in turns, and notes each step."""
    return f"""{_EVENTS}

def test_model(opcost, step, request):
    from pytest_opcost import plugin

    partner = request.config.stash[plugin.OPTIONS].partner
    {before}
    with partner.met() if partner else contextlib.nullcontext() as turns:
        for _ in range(3):
            note("step")
            time.sleep(0.03)  # more than a turn
            turns and turns.next_step()
    {after}
    opcost.check(step)


import contextlib
"""


class _Asks:
    """A plugin that asks for rounds instead of running the tests."""

    def __init__(
        self,
        count: int,
        use: Callable[[Generator[rounds.Round, None, None]], object],
        timeout: float,
        *,
        in_pairs: bool,
        on_device: bool,
    ) -> None:
        self._count, self._use, self._timeout, self._in_pairs = count, use, timeout, in_pairs
        self._on_device = on_device
        self.found: Any = None

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        side = rounds.head_side(session.config)
        options = session.config.stash[plugin.OPTIONS]
        (session.config.rootpath / "events").unlink(missing_ok=True)  # of this process's own collection
        repetitions = REPETITIONS if self._in_pairs else 1
        starts = [rounds.Start(side, [_TEST], turn, True, repetitions) for turn in range(self._count)]
        started = rounds.run_together(
            starts, options, timeout=self._timeout, in_pairs=self._in_pairs, on_device=self._on_device
        )
        self.found = self._use(started)
        started.close()
        return True


def _asked(
    suite: Project,
    count: int,
    use: Callable[[Generator[rounds.Round, None, None]], object] = list,
    text: str = _EVENTS,
    timeout: float = 60,
    *,
    in_pairs: bool = False,
    on_device: bool = False,
) -> Any:
    suite.write("test_model.py", text)
    asks = _Asks(count, use, timeout, in_pairs=in_pairs, on_device=on_device)
    suite.pytester.inline_run("--opcost", plugins=[asks])
    return asks.found


def _events(suite: Project) -> list[tuple[int, str, bool]]:
    lines = (suite.path / "events").read_text().splitlines()
    return [(int(pid), what, slow == "True") for pid, what, slow in map(str.split, lines)]


def test_all_have_started_before_the_first_measures_and_then_they_take_turns(suite: Project) -> None:
    found = _asked(suite, 3)

    events = _events(suite)
    assert [what for _, what, _ in events] == ["collected"] * 3 + ["begins", "ends"] * 3
    order = [pid for pid, what, _ in events if what == "begins"]
    assert [pid for pid, what, _ in events if what == "ends"] == order
    assert len({*order, os.getpid()}) == 4
    assert [list(one.profiles) for one in found] == [[(_TEST, None)]] * 3


_EXITS = (
    "import atexit\n"
    + _EVENTS
    + """

def leave():
    note("exits")
    time.sleep(2)
    note("gone")


atexit.register(leave)
"""
)


def test_one_exits_while_the_next_one_begins(suite: Project) -> None:
    """None is cut short: what a process does at its exit, it does to the end."""
    found = _asked(suite, 2, text=_EXITS)

    after = [what for _, what, _ in _events(suite) if what != "collected"]
    assert after[:3] == ["begins", "ends", "exits"]
    assert after.index("begins", 1) < after.index("gone")
    assert after.count("gone") == 2
    assert [one.failures for one in found] == [{}] * 2


def test_on_a_device_one_exits_before_the_next_one_begins(suite: Project) -> None:
    found = _asked(suite, 2, text=_EXITS, on_device=True)

    after = [what for _, what, _ in _events(suite) if what != "collected"]
    assert after == ["begins", "ends", "exits", "gone"] * 2
    assert [one.failures for one in found] == [{}] * 2


def test_one_that_does_not_exit_is_not_waited_for_for_ever(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE", 0.5)
    found = _asked(suite, 2, text=_EXITS.replace("sleep(2)", "sleep(60)"), on_device=True)

    assert [what for _, what, _ in _events(suite)].count("ends") == 2
    assert [one.failures for one in found] == [{}] * 2


def test_what_is_slow_to_import_is_imported_before(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.write("slow.py", "")
    suite.write("broken.py", "1 / 0\n")
    monkeypatch.setattr(gate, "SLOW_IMPORTS", ("slow", "broken", "not_there"))
    for name in ("slow", "broken"):
        monkeypatch.setitem(sys.modules, name, sys)

    _asked(suite, 2)

    assert {(what, slow) for _, what, slow in _events(suite)} == {
        ("collected", False),
        ("begins", True),
        ("ends", True),
    }


def test_those_that_nobody_asks_for_any_more_are_ended(suite: Project) -> None:
    found = _asked(suite, 2, next)

    assert list(found.profiles) == [(_TEST, None)]
    events = _events(suite)
    assert [what for _, what, _ in events] == ["collected", "collected", "begins", "ends"]
    assert not any(map(alive, {pid for pid, _, _ in events}))


def test_one_that_never_comes_to_its_gate_is_not_waited_for(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN", str(os.getpid()))
    dies = _EVENTS + "\nif os.environ['OWN'] != str(os.getpid()):\n    os._exit(3)\n"

    def use(started: Generator[rounds.Round, None, None]) -> str:
        with pytest.raises(RoundError) as raised:
            next(started)
        return str(raised.value)

    # Else this would take the two hours that they may take.
    assert re.search(r"status 3\b", _asked(suite, 2, use, text=dies, timeout=3600))


def test_a_run_confirms_by_processes_that_started_together(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one for two cores, two at least and six at most; a worker of pytest-xdist by one."""
    monkeypatch.setattr(fresh, "cores", lambda: 16)
    for done, expected in ((0, 6), (6, 6), (11, 1)):
        assert fresh.worth_starting(Course("confirming", 12, done=done), is_worker=False) == expected
    assert fresh.worth_starting(Course("confirming", 3), is_worker=False) == 3
    assert fresh.worth_starting(Course("confirming", 12), is_worker=True) == 1
    for cores, expected in ((1, 1), (2, 2), (4, 2), (8, 4), (12, 6)):
        monkeypatch.setattr(fresh, "cores", lambda cores=cores: cores)
        assert fresh.worth_starting(Course("confirming", 12), is_worker=False) == expected


def test_rounds_of_a_recording_start_side_by_side(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four rounds, two by two: those of a pair have both started before one of them measures."""
    monkeypatch.setattr(fresh, "cores", lambda: 2)
    monkeypatch.setattr(seams, "recorded_rounds", _RECORDED_ROUNDS)
    suite.write("test_model.py", _EVENTS)

    suite.pytester.inline_run("--opcost-update-baselines", "--opcost-rounds=4").assertoutcome(passed=1)

    of_rounds = [what for pid, what, _ in _events(suite) if pid != os.getpid()]
    assert of_rounds == [*["collected"] * 2, *["begins", "ends"] * 2] * 2


def test_those_of_a_pair_measure_in_turns_and_one_pair_after_the_other(suite: Project) -> None:
    found = _asked(suite, 4, text=_measuring_in_turns(), in_pairs=True)

    steps = [pid for pid, what, _ in _events(suite) if what == "step"]
    half = 2 * 3 * REPETITIONS
    assert steps[:half] == steps[:2] * (half // 2)
    assert steps[half:] == steps[half : half + 2] * (half // 2)
    assert len(set(steps)) == 4
    assert [list(one.profiles) for one in found] == [[(_TEST, None)]] * 4
    assert [one.failures for one in found] == [{}] * 4


def test_those_of_a_pair_run_each_test_several_times_and_find_the_mean(
    suite: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a model of its own each time; what is exact is read once, what is the whole session's is made once."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    counted = """
import os
from pathlib import Path

import pytest


def note(what):
    with Path(__file__).with_name("events").open("a") as file:
        file.write(f"{os.getpid()} {what} False\\n")


@pytest.fixture(scope="session")
def data():
    note("data")


@pytest.fixture(scope="module")
def model():
    note("model")
    yield
    note("freed")


def test_model(opcost, data, model, request):
    given = request.config.pluginmanager.get_plugin("opcost-run").options
    assert os.environ["OMP_NUM_THREADS"] == "1"  # beside the other one
    note(f"exact={given.exact},{given.repetition}")
    opcost.check(lambda: {"ops": {"aten::mm": 100 + given.repetition**2}})
"""
    found = _asked(suite, 2, text=counted, in_pairs=True)

    events = _events(suite)
    for pid in {pid for pid, *_ in events}:
        repetitions = [["model", f"exact={number == 0},{number}", "freed"] for number in range(REPETITIONS)]
        assert [what for one, what, _ in events if one == pid] == ["data", *chain(*repetitions)]
    mean = 100 + sum(number**2 for number in range(REPETITIONS)) / REPETITIONS
    assert [one.profiles[_TEST, None].total_host_us for one in found] == [mean] * 2


@pytest.mark.parametrize(("passes", "failures"), [(0, 1), (1, 0)])
def test_a_test_need_not_bear_to_be_run_again(suite: Project, passes: int, failures: int) -> None:
    """What it measured before counts; where it fails at once, it has failed."""
    text = f"""
RUNS = []


def test_model(opcost, step):
    RUNS.append(None)
    assert len(RUNS) <= {passes}
    opcost.check(step)
"""
    found = _asked(suite, 2, text=text, in_pairs=True)

    assert [len(one.failures) for one in found] == [failures] * 2
    assert [len(one.profiles) for one in found] == [1 - failures] * 2


def test_a_test_that_takes_long_is_not_run_again(suite: Project) -> None:
    text = """
from pytest_opcost.rounds import child

child.LONGEST_SECONDS = 0.0


def test_model(opcost, request):
    given = request.config.pluginmanager.get_plugin("opcost-run").options
    opcost.check(lambda: {"ops": {"aten::mm": 100 + given.repetition}})
"""
    found = _asked(suite, 2, text=text, in_pairs=True)

    assert [one.profiles[_TEST, None].total_host_us for one in found] == [100] * 2


def test_the_other_one_of_a_pair_that_dies_goes_on_and_its_test_counts_as_failed(suite: Project) -> None:
    """It was measured beside nobody knows what."""
    dies = """if not partner._first:
        os._exit(3)"""
    found = _asked(suite, 2, text=_measuring_in_turns(dies), in_pairs=True)

    told = sorted(one.failures[_TEST] for one in found)
    assert "status 3" in told[1]
    assert told[0] == "the other side was not there to measure in turns with"
    assert [what for _, what, _ in _events(suite)].count("step") == 3


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_test_that_bears_no_other_one_beside_it_is_measured_one_after_the_other(suite: Project) -> None:
    """As one that holds a port or a file."""
    held = f"Path({str(suite.path)!r}, 'held')"
    suite.write("test_model.py", _measuring_in_turns(f"{held}.touch(exist_ok=False)", f"{held}.unlink()"))
    for args in (["init", "-q"], ["add", "-A"], ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "A"]):
        subprocess.run(["git", *args], cwd=suite.path, check=True)

    result = suite.run("--opcost", "--opcost-base=HEAD")

    result.assert_outcomes(passed=1)
    assert summary(result)[-1].endswith(" in 5 pairs: nothing moved")
