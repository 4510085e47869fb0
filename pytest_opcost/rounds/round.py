"""One round: a fresh process that runs given tests again, and what their checks measured there."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_opcost.rounds.collected import file_of
from pytest_opcost.rounds.followed import Followed
from pytest_opcost.rounds.found import Round, found_in
from pytest_opcost.rounds.process import run_process
from pytest_opcost.rounds.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    missing = {test: f"was not collected: there is no {file_of(test)} in {side.root}" for test in tests}
    missing = {test: why for test, why in missing.items() if not (side.root / file_of(test)).exists()}
    there = [test for test in tests if test not in missing]
    if not there:
        return Round(side.name, {}, missing)
    folder = Path(tempfile.mkdtemp(prefix="opcost-round-"))
    try:
        request = folder / "request.json"
        request.write_text(
            json.dumps(_request(side, there, Settings.of(options, exact=exact, turn=turn), folder)), encoding="ascii"
        )
        home = folder / "found.jsonl"
        ended = run_process(side, request, timeout, None if watch is None else _looking(home, watch))
        found = found_in(home, side, there, ended)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return replace(found, failures={**missing, **found.failures})


def _looking(home: Path, watch: Callable[[int, str], None]) -> Callable[[], None]:
    followed = Followed(home)

    def look() -> None:
        followed.look()
        watch(followed.finished, followed.running)

    return look


def _request(side: Side, tests: Sequence[str], settings: Settings, folder: Path) -> dict[str, Any]:
    return {
        "tests": tests,
        "args": _arguments(side),
        "import_paths": side.import_paths,
        "moved": None if side.moved is None else [str(path) for path in side.moved],
        "plugin": side.plugin,
        "seed": side.seed,
        "settings": settings.to_data(),
        "folder": str(folder),
    }


def _arguments(side: Side) -> list[str]:
    """pytest's arguments there: the user's, and, before a `--` that ends the options, where root and ini file are."""
    args = list(side.args)
    end = args.index("--") if "--" in args else len(args)
    args[end:end] = [f"--rootdir={side.root}", *(["-c", str(side.inifile)] if side.inifile is not None else [])]
    return args
