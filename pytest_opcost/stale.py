"""Which baselines belong to tests that no longer exist; errs on the side of keeping a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.storage import stored_tests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def stale_baselines(baselines: Path, root: Path, collected: Mapping[str, bool], whole: Sequence[Path]) -> list[Path]:
    """The files below `baselines` whose test is gone.

    `collected` maps the ids that this run collected to whether opcost's own options decide their parameters; such a
    test is known by its function alone, since another run has other devices and batch sizes. `whole` are the files and
    folders that were collected whole: a test outside of them, or in a file of which nothing was collected, may exist.
    """
    files = {_file(test) for test in collected}
    by_options = {_function(test) for test, own in collected.items() if own}
    return [
        path
        for path, test in stored_tests(baselines)
        if not (root / _file(test)).exists()
        or (
            test not in collected
            and _function(test) not in by_options
            and _file(test) in files
            and any((root / _file(test)).resolve().is_relative_to(place) for place in whole)
        )
    ]


def _file(test: str) -> str:
    return test.partition("::")[0]


def _function(test: str) -> str:
    return test.partition("[")[0]
