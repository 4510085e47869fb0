"""Which baselines belong to tests that no longer exist; errs on the side of keeping a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.storage import stored_tests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def stale_baselines(
    baselines: Path, root: Path, collected: Mapping[str, bool], whole: Sequence[Path]
) -> tuple[list[Path], list[Path]]:
    """The files below `baselines` whose test is gone, and those of which this run cannot say whether it is.

    `collected` maps the ids that this run collected to whether opcost's own options decide their parameters; such a
    test is known by its function alone, since another run has other devices and batch sizes. `whole` are the files and
    folders that were collected whole: a test outside of them, or in a file of which nothing was collected, may exist.
    """
    files = {_file(test) for test in collected}
    by_options = {_function(test) for test, own in collected.items() if own}
    stale, unknown = [], []
    for path, test in stored_tests(baselines):
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


def _file(test: str) -> str:
    return test.partition("::")[0]


def _function(test: str) -> str:
    return test.partition("[")[0]
