"""Which folder holds which curve, how runs are numbered, and what an older run may have left behind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_opcost.costs import slug
from pytest_opcost.errors import ReportError
from pytest_opcost.facts import digest
from pytest_opcost.report.tensorboard.events import damage
from pytest_opcost.report.whole_files import unwritable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_opcost.results import CheckResult

#: A file's name tells the run that wrote it, in the place where others write the time: TensorBoard reads a folder's
#: files in the order of their names, whatever the clocks of two machines say.
_FILE = "events.out.tfevents.{:010d}.opcost"
_OURS = re.compile(r"events\.out\.tfevents\.(\d{10})\.opcost")
#: What every run replaces, since only the newest is of use: it is read first.
LATEST = _FILE.format(0)
_RUNS = "opcost-runs"
_LONGEST_PART = 80
#: Files whose every byte is checked; older ones were, when they were newer.
_CHECKED_WHOLE = 5


def cost_folder(result: CheckResult) -> str:
    """The run folder of one configuration, the same in every run: the test's path, its check, batch size and device."""
    subject, environment = result.subject, result.profile.environment
    batch = f"batch-{subject.batch_size}-" if subject.batch_size is not None else ""
    device = slug(f"{subject.device}-{environment.device_name}")
    return _joined(["costs", *re.split(r"/|::", subject.family), subject.check, batch + device])


def training_folder(run: int, started: str, model: str, device: str, batch_size: int) -> str:
    """The run folder of one training; no other run of pytest writes to it."""
    # Down to the second: what follows is the zone.
    return f"training/run-{run:04d}-{slug(started[:19])}/{slug(model) or 'model'}-batch-{batch_size}-{slug(device)}"


def _joined(parts: Iterable[str | None]) -> str:
    return "/".join(_safe(part) for part in parts if part is not None)


def _safe(part: str) -> str:
    """A folder's name that reads like `part`; a hash tells apart what would read the same."""
    if re.fullmatch(r"[a-z0-9_][a-z0-9._-]{0,79}", part) and not part.endswith("."):
        return part
    readable = slug(part.encode("ascii", "ignore").decode())[:_LONGEST_PART].strip("-.")
    return "-".join(word for word in (readable, digest(part)) if word)


def run_file(run: int) -> str:
    """The name of the event file that this run adds to a folder."""
    return _FILE.format(run)


def claim_run(root: Path, folders: Sequence[Path], option: str) -> int:
    """The number of this run: one more than all that went before in `root`, and nobody else's.

    Raises ReportError where `root` cannot be written; `option` chooses another place.
    """
    runs = root / _RUNS
    try:
        runs.mkdir(parents=True, exist_ok=True)
        number = 1 + max([0, *(int(path.name) for path in runs.iterdir() if path.name.isdecimal()), *_runs_in(folders)])
        while True:
            try:
                # Made here or nowhere: of two runs at the same time the second takes the next number.
                (runs / f"{number:010d}").touch(exist_ok=False)
            except FileExistsError:
                number += 1
            else:
                return number
    except OSError as error:
        raise unwritable(root, error, option) from None


def _runs_in(folders: Sequence[Path]) -> list[int]:
    return [
        int(found[1]) for folder in folders for path in folder.glob("events.*") if (found := _OURS.fullmatch(path.name))
    ]


def problems_of(folders: Sequence[Path]) -> list[str]:
    """What is wrong with the event files that older runs, or others, left in these folders; nothing is changed."""
    found = []
    for folder in folders:
        older = sorted(path for path in folder.glob("*tfevents*") if path.name != LATEST)
        for age, path in enumerate(reversed(older)):
            if _OURS.fullmatch(path.name) is None:
                found.append(f"{path}: not written by opcost")
                continue
            try:
                content = path.read_bytes()
            except OSError as error:
                found.append(f"{path}: {error.strerror or error}")
                continue
            if wrong := damage(content, thorough=age < _CHECKED_WHOLE):
                found.append(f"{path}: {wrong}")
    return found


def damaged(problems: Sequence[str], option: str) -> ReportError:
    """What to tell of such files, after all that could be written was written."""
    many = len(problems) > 1
    bullets = "\n".join(f"  - {problem}" for problem in problems)
    return ReportError(
        f"TensorBoard cannot read {len(problems)} event file{'s' if many else ''} of older runs, or not to "
        f"{'their ends' if many else 'its end'}:\n{bullets}\n"
        "Expected: whole files that opcost wrote. They were left as they are, and this run's points lie beside them.\n"
        f"Delete what is listed, or begin anew in another folder with {option}."
    )
