"""Which baselines belong to tests that no longer exist; errs on the side of keeping a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_PRUNE = "pytest --opcost-prune-baselines"


def stale_baselines(
    stored: Mapping[Path, str], root: Path, collected: Mapping[str, bool], whole: Sequence[Path]
) -> tuple[list[Path], list[Path]]:
    """The baselines whose test is gone, and those of which this run cannot say whether it is.

    `stored` maps baselines to their tests, `collected` the ids that this run collected to whether opcost's own options
    decide their parameters; such a test is known by its function alone, since another run has other devices and batch
    sizes. `whole` are the files and folders that were collected whole: a test outside of them, or in a file of which
    nothing was collected, may exist.
    """
    files = {_file(test) for test in collected}
    by_options = {_function(test) for test, own in collected.items() if own}
    stale, unknown = [], []
    for path, test in stored.items():
        file = root / _file(test)
        if not file.exists():
            stale.append(path)
        elif test in collected or _function(test) in by_options:
            continue
        elif _file(test) in files and any(file.resolve().is_relative_to(place) for place in whole):
            stale.append(path)
        else:
            unknown.append(path)
    return stale, unknown


def count_gone(tests: Iterable[str], known: Mapping[str, Mapping[str, bool]]) -> int:
    """How many of these tests are gone from a file or class of which all tests are `known`, by its id.

    Those are mapped as `stale_baselines` has them.
    """
    gone = 0
    for test in tests:
        there = known.get(_function(test).rpartition("::")[0])
        if there is not None and test not in there:
            gone += _function(test) not in {_function(other) for other, own in there.items() if own}
    return gone


def not_listed_text(count: int, *, broken: bool) -> str:
    """That so many baselines are without a test, and why they are not listed; empty for none."""
    if not count:
        return ""
    why = "not everything could be collected" if broken else "this run takes only some tests"
    told = (
        "1 baseline has no test any more and is" if count == 1 else f"{count} baselines have no test any more and are"
    )
    return f"{told} not listed: {why}. Look at all of them: {_PRUNE}"


def left_alone_text(count: int, *, distributed: bool, broken: bool, last_failed: bool) -> str:
    """Why nothing is known of that many baselines, and how to look at them too; empty for none.

    `distributed` is a run of pytest-xdist's workers, `broken` one that could not collect everything,
    `last_failed` one with --lf.
    """
    if not count:
        return ""
    why, command = "their files were not collected, or not whole", _PRUNE
    if distributed:
        why, command = "only the workers of pytest-xdist know what they collected", f"{command} -n 0"
    elif broken:
        why = "not everything could be collected"
    elif last_failed:
        why = "--lf leaves tests out"
    return f"{count} baseline{'s' if count > 1 else ''} not looked at: {why}. Look at all of them: {command}"


def _file(test: str) -> str:
    return test.partition("::")[0]


def _function(test: str) -> str:
    return test.partition("[")[0]
