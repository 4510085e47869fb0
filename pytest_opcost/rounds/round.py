"""Rounds: fresh processes that run given tests again, and what their checks measured there."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import replace
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


def run_round(
    side: Side,
    tests: Sequence[str],
    options: Options,
    *,
    exact: bool,
    timeout: float,
    turn: int = 0,
    watch: Callable[[int, str], None] | None = None,
) -> Round:
    """Run these tests, in this order, in a fresh process on that side; it may take `timeout` seconds.

    `options` are those of the run that asks; without `exact`, checks take times alone. `turn` is the round's number.
    `watch` is called now and then, with the number of tests that have ended and the one that runs. A
    test that fails, is skipped, is not there or takes the process down is one of the round's failures. Raises
    RoundError where the process cannot be started, refuses its options, or ends before its first test.
    """
    (found,) = run_together(side, tests, options, exact=exact, timeout=timeout, turns=[turn], watch=watch)
    return found


def run_together(
    side: Side,
    tests: Sequence[str],
    options: Options,
    *,
    exact: bool,
    timeout: float,
    turns: Sequence[int],
    watch: Callable[[int, str], None] | None = None,
) -> Generator[Round, None, None]:
    """A round for each number in `turns`, by processes that start side by side and measure one after the other.

    All have imported what is slow before the first one measures, and one exits while the next one begins. The rest as
    in `run_round`; those that nobody asks for any more are killed when the iterator is closed.
    """
    missing = {test: f"was not collected: there is no {file_of(test)} in {side.root}" for test in tests}
    missing = {test: why for test, why in missing.items() if not (side.root / file_of(test)).exists()}
    there = [test for test in tests if test not in missing]
    if not there:
        yield from (Round(side.name, {}, missing) for _ in turns)
        return
    gated = len(turns) > 1
    with ExitStack() as stack:
        begun = []
        for turn in turns:
            folder = Path(tempfile.mkdtemp(prefix="opcost-round-"))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            request = folder / "request.json"
            settings = Settings.of(options, exact=exact, turn=turn)
            what = _request(side, there, settings, folder, gate=imported() if gated else None)
            request.write_text(json.dumps(what), encoding="ascii")
            begun.append((folder, stack.enter_context(Process(side, request, gated=gated))))
        if gated:
            for _, process in begun:
                process.wait_at_gate(timeout)
        for folder, process in begun:
            if gated:
                process.open_gate()
            home = folder / "found.jsonl"
            ended = process.wait(timeout, None if watch is None else _looking(home, watch))
            found = found_in(home, side, there, ended)
            yield replace(found, failures={**missing, **found.failures})


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
    }


def _arguments(side: Side) -> list[str]:
    """pytest's arguments there: the user's, and, before a `--` that ends the options, where root and ini file are."""
    args = list(side.args)
    end = args.index("--") if "--" in args else len(args)
    args[end:end] = [f"--rootdir={side.root}", *(["-c", str(side.inifile)] if side.inifile is not None else [])]
    return args
