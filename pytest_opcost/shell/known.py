"""What files hold, whatever their kind: the figures of one check, from a baseline or from the results of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost import saved, storage, yaml_text
from pytest_opcost.errors import OpcostError
from pytest_opcost.judge import Reference
from pytest_opcost.results import Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_opcost.baselines import Baseline
    from pytest_opcost.costs import CostProfile, OpCost
    from pytest_opcost.results import CheckResult


class FileError(OpcostError):
    """What was named on the command line is not there, or is not what it should be."""


@dataclass(frozen=True, slots=True)
class Known:
    """The figures of one check: of a baseline, which has rounds of one or several sessions, or of a result.

    `ratios` are the declared ones, in the forms in which they are judged. `told` says what it is and where it is from.
    """

    subject: Subject
    profile: CostProfile
    sessions: tuple[int, ...]
    ratios: Mapping[str, float]
    path: Path
    told: str
    result: CheckResult | None = None

    @property
    def identity(self) -> tuple[str, str | None]:
        """What it shares with other figures of the same check."""
        return self.subject.test, self.subject.check

    @property
    def machine(self) -> str:
        """The machine's key."""
        return self.profile.environment.machine_key

    @property
    def reference(self) -> Reference:
        """What others are judged against."""
        return Reference(self.profile, self.sessions, ratios=self.ratios)

    @property
    def rounds(self) -> list[CostProfile]:
        """The rounds that the profile is of: an operator whose samples are not kept costs the same in all of them."""
        count = sum(self.sessions)
        device = self.profile.clock == "device"

        def at(turn: int) -> Iterator[OpCost]:
            for op in self.profile.ops:
                if len(op.samples) != count:
                    yield op
                elif device:
                    yield op.at(op.self_host_us, op.samples[turn], op.share)
                else:
                    yield op.at(op.samples[turn], op.self_device_us, op.share)

        # Totals and shares stay those of all rounds together: the judge asks single rounds for nothing but costs.
        return [replace(self.profile, ops=tuple(at(turn))) for turn in range(count)] if count > 1 else [self.profile]


def from_baseline(baseline: Baseline) -> Known:
    """What a baseline holds."""
    subject = Subject(baseline.test, baseline.check, baseline.test, baseline.profile.environment.device, None)
    ratios = {form: ratio.value for form, ratio in baseline.ratios.items()}
    sessions = tuple(one.rounds for one in baseline.sessions)
    return Known(subject, baseline.profile, sessions, ratios, baseline.path, f"baseline {baseline.history}")


def from_result(result: CheckResult, path: Path, started: str) -> Known:
    """What a result holds; its operators have samples where several rounds were measured."""
    rounds = max((len(op.samples) for op in result.profile.ops), default=0) or 1
    told = f"measured {started[:10]}, {rounds} round{'s' if rounds > 1 else ''}"
    return Known(result.subject, result.profile, (rounds,), result.ratios, path, told, result)


@dataclass(frozen=True, slots=True)
class Read:
    """What a path led to: the figures, and what is wrong with the files of a folder that could not be read."""

    found: tuple[Known, ...]
    damaged: tuple[str, ...] = ()


def read(path: Path) -> Read:
    """The figures in a file, or in all baselines below a folder.

    Raises an OpcostError where there is no such file, it cannot be read, or a folder has no baseline at all.
    """
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise FileError(f"{path}: no such file or folder.\nExpected: a baseline, a file of results, or a folder.")
    if path.is_char_device() or path.is_block_device():
        raise FileError(f"{path}: is a device.\nExpected: a baseline, a file of results, or a folder.")
    return Read(tuple(_file(path)))


def _file(path: Path) -> Iterator[Known]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path}: is no text (byte {error.start}).\nExpected: a baseline or a file of results."
        ) from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}.") from None
    if not text.strip():
        raise FileError(f"{path}: is empty.\nExpected: a baseline or a file of results.")
    if text.lstrip()[0] == "{":
        run = saved.load_text(text, path)
        if not run.checks:
            raise FileError(f"{path}: holds no test's costs.\nExpected: the results of a run with opcost tests.")
        for result in run.checks:
            yield from_result(result, path, run.started)
    elif not re.search(r"^schema:", text, re.MULTILINE):
        yaml = path.suffix in (".yaml", ".yml")
        more = f"What torch's profiler printed or exported becomes one: opcost import {path}"
        raise FileError(
            f"{path}: is neither a baseline nor a file of results.\n"
            "Expected: one of these, or a folder of baselines.\n"
            f"{yaml_text.mend(path) if yaml else more}"
        )
    else:
        yield from_baseline(storage.load_text(text, path))


def _folder(folder: Path) -> Read:
    held = read_baselines(baselines_below(folder))
    if not held.found:
        more = f"\nand so with {len(held.damaged) - 1} more" if held.damaged[1:] else ""
        raise FileError(held.damaged[0] + more)
    return held


def baselines_below(folder: Path) -> list[Path]:
    """The files of a folder; raises FileError where there is none."""
    paths = sorted(folder.rglob("*.yaml"))
    if not paths:
        raise FileError(f"{folder}: no baseline below this folder.\nExpected: files that end in .yaml.")
    return paths


def read_baselines(paths: Iterable[Path]) -> Read:
    """The baselines in these files, and what is wrong with those that cannot be read."""
    found, damaged = [], []
    for path in paths:
        try:
            found.append(from_baseline(storage.load(path)))
        except OpcostError as error:
            damaged.append(str(error))
    return Read(tuple(found), tuple(damaged))
