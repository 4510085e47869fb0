"""Rounds: fresh processes that run given tests again, and what their checks measured there."""

from __future__ import annotations

import json
import shutil
import socket
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_opcost.rounds.collected import file_of
from pytest_opcost.rounds.followed import Followed
from pytest_opcost.rounds.found import Round, found_in
from pytest_opcost.rounds.gate import imported
from pytest_opcost.rounds.process import Process
from pytest_opcost.rounds.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from pytest_opcost.options import Options
    from pytest_opcost.rounds.side import Side


@dataclass(frozen=True, slots=True)
class Start:
    """A round that is to be made: these tests, in this order, on that side. `turn` is its number on that side; without
    `exact`, checks take times alone. `repetitions`, see `Settings`."""

    side: Side
    tests: Sequence[str]
    turn: int = 0
    exact: bool = False
    repetitions: int = 1


def run_together(
    starts: Sequence[Start],
    options: Options,
    *,
    timeout: float,
    watch: Callable[[int, str], None] | None = None,
    in_pairs: bool = False,
    on_device: bool = False,
) -> Generator[Round, None, None]:
    """Rounds by processes that start side by side and measure one after the other, each for `timeout` seconds at most;
    `in_pairs`, every two of them run their tests at the same time, and measure a few steps at a time, in turns.

    All have imported what is slow before the first one measures, and one exits while the next one begins: `on_device`,
    before it, since what a process still holds of a device's memory decides where in it the next one comes to lie. The
    two sides of a pair then differed by 2 to 5 % in small kernels instead of 0.2 (measured, H200). Those that nobody
    asks for any more are killed when the iterator is closed. `options` are those of the run that asks. `watch`
    is called now and then, with the number of tests that have ended and the one that runs. A test that fails, is
    skipped, is not there or takes the process down is one of its round's failures. Raises RoundError where a process
    cannot be started, refuses its options, or ends before its first test.
    """
    missing = [_missing(start) for start in starts]
    in_pairs = in_pairs and all(len(none) < len(start.tests) for none, start in zip(missing, starts))
    gated, together = len(starts) > 1, 2 if in_pairs else 1
    with ExitStack() as stack:
        with ExitStack() as handed:  # here the ends are closed, so that each process sees it when the other one is gone
            ends = _ends(handed, len(starts)) if in_pairs else [None] * len(starts)
            begun = [
                _begun(stack, start, none, options, end, gated=gated) for start, none, end in zip(starts, missing, ends)
            ]
        for one in begun if gated else ():
            if one.process is not None:
                one.process.wait_at_gate(timeout)
        for number, (start, one) in enumerate(zip(starts, begun)):
            for other in begun[number : number + together] if gated and number % together == 0 else ():
                if other.process is not None:
                    other.process.open_gate()
            if one.process is None:
                yield Round(start.side.name, {}, one.missing)
                continue
            home = one.folder / "found.jsonl"
            ended = one.process.wait(timeout, None if watch is None else _looking(home, watch), leaves=on_device)
            found = found_in(home, start.side, one.there, ended)
            yield replace(found, failures={**one.missing, **found.failures})


@dataclass(frozen=True, slots=True)
class _Begun:
    """A round whose process runs the tests that are `there` and leaves in `folder` what it finds; without any there is
    none. `missing` says why the others are not."""

    there: list[str]
    missing: dict[str, str]
    folder: Path
    process: Process | None


@dataclass(frozen=True, slots=True)
class _End:
    """One end of the connection of two rounds that measure in turns; whoever has the `first` one begins."""

    socket: socket.socket
    first: bool


def _ends(handed: ExitStack, count: int) -> list[_End | None]:
    """Connections between every two of so many rounds."""
    pairs = [socket.socketpair() for _ in range(count // 2)]
    return [_End(handed.enter_context(end), number == 0) for pair in pairs for number, end in enumerate(pair)]


def _missing(start: Start) -> dict[str, str]:
    root = start.side.root
    where = root if start.side.moved is None else "that commit"  # whose folder is gone by the time that this is read
    why = {test: f"was not collected: there is no {file_of(test)} in {where}" for test in start.tests}
    return {test: told for test, told in why.items() if not (root / file_of(test)).exists()}


def _begun(
    stack: ExitStack, start: Start, missing: dict[str, str], options: Options, end: _End | None, *, gated: bool
) -> _Begun:
    there = [test for test in start.tests if test not in missing]
    folder = Path(tempfile.mkdtemp(prefix="opcost-round-"))
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    if not there:
        return _Begun(there, missing, folder, None)
    request = folder / "request.json"
    settings = Settings.of(options, exact=start.exact, turn=start.turn, repetitions=start.repetitions)
    what = _request(start.side, there, settings, folder, gate=imported() if gated else None)
    connection = None if end is None else end.socket.fileno()
    if end is not None:
        what["partner"] = {"connection": connection, "tests": start.tests, "first": end.first}
    request.write_text(json.dumps(what), encoding="ascii")
    process = stack.enter_context(Process(start.side, request, gated=gated, connection=connection))
    return _Begun(there, missing, folder, process)


def _looking(home: Path, watch: Callable[[int, str], None]) -> Callable[[], None]:
    followed = Followed(home)

    def look() -> None:
        followed.look()
        watch(followed.finished, followed.running)

    return look


def _request(
    side: Side, tests: Sequence[str], settings: Settings, folder: Path, gate: Sequence[str] | None
) -> dict[str, Any]:
    """What the process is told; `gate` is what it imports before it waits, None where it does not wait."""
    return {
        "tests": tests,
        "args": _arguments(side),
        "import_paths": side.import_paths,
        "moved": None if side.moved is None else [str(path) for path in side.moved],
        "plugin": side.plugin,
        "seed": side.seed,
        "settings": settings.to_data(),
        "folder": str(folder),
        "gate": gate,
        "partner": None,
    }


def _arguments(side: Side) -> list[str]:
    """pytest's arguments there: the user's, and, before a `--` that ends the options, where root and ini file are."""
    args = list(side.args)
    end = args.index("--") if "--" in args else len(args)
    args[end:end] = [f"--rootdir={side.root}", *(["-c", str(side.inifile)] if side.inifile is not None else [])]
    return args
