"""What a run found, for TensorBoard: each configuration a run folder of its own, in which costs become curves.

`costs/...` folders are kept: every run of pytest adds one point to their curves, at the run's number. `training/...`
folders belong to one run each. So each curve has its own colour, and none goes on from the end of another.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pytest_opcost.report.tensorboard.costs import latest_events, run_events
from pytest_opcost.report.tensorboard.events import file_content, picture
from pytest_opcost.report.tensorboard.folders import (
    LATEST,
    claim_run,
    cost_folder,
    damaged,
    problems_of,
    run_file,
    training_folder,
)
from pytest_opcost.report.tensorboard.pictures import image_grid
from pytest_opcost.report.tensorboard.trainings import training_events
from pytest_opcost.report.whole_files import PREFIX, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_opcost.results import CheckResult, RunResults


def write_events(folder: Path, run: RunResults, prefix: str = PREFIX) -> None:
    """Add what the run found to `folder`, for `tensorboard --logdir`; every file is written whole or not at all.

    Raises ReportError where that cannot be written, and, once all is written, where an older run's files are damaged.
    """
    now, option = time.time(), f"{prefix}tensorboard=DIR"
    checks = _last_of_each(run)
    folders = [folder / name for name in checks]
    number = claim_run(folder, folders, option)
    for name, result in checks.items():
        latest = list(latest_events(result.profile, result.subject.device, number, now))
        if latest:
            write_whole(folder / name / LATEST, file_content(latest, now), option)
        write_whole(folder / name / run_file(number), file_content(run_events(result, number, now), now), option)
    for name, content in _trainings(run, number, now):
        write_whole(folder / name / run_file(number), content, option)
    if run.images:
        grid = picture("training images", image_grid(run.images), number, now)
        write_whole(folder / "data" / LATEST, file_content([grid], now), option)
    if problems := problems_of(folders):
        raise damaged(problems, option)


def _last_of_each(run: RunResults) -> dict[str, CheckResult]:
    """The checks by their run folders; of a test that was run again the last, since a curve has one point a run."""
    return {cost_folder(result): result for result in run.checks}


def _trainings(run: RunResults, number: int, now: float) -> Iterator[tuple[str, bytes]]:
    """Run folder and event file of each training."""
    taken: set[str] = set()
    for training in run.trainings:
        first = name = training_folder(number, run.started, training.model, training.device, training.batch_size)
        count = 1
        while name in taken:
            name, count = f"{first}-{count + 1}", count + 1
        taken.add(name)
        yield name, file_content(training_events(training, name, run.started, now), now)
