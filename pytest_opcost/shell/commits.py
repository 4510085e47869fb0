"""Which commits changed which baselines, read from git in two calls however many there are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.base.git import printable, reason, run_git
from pytest_opcost.errors import BaseError
from pytest_opcost.shell.known import FileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_FIELDS = ("%H", "%cs", "%s")
_END = "%x00"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit on the way to HEAD; `name` is its full hash, `day` an ISO date, `place` counts from the newest."""

    name: str
    day: str
    subject: str
    place: int


@dataclass(frozen=True, slots=True)
class Step:
    """What one commit made of one file: its blob from then on, and its path before, where it was renamed."""

    commit: Commit
    path: str
    blob: str
    before: str


def top_of(folder: Path) -> Path:
    """The repository's root; raises FileError where there is no repository."""
    try:
        answer = run_git(folder, "rev-parse", "--show-toplevel")
    except BaseError as error:
        raise FileError(f"{str(error).splitlines()[0]}\nExpected: git on the PATH, which knows the history.") from None
    if answer.returncode:
        raise FileError(
            f"{folder}: no history: {reason(answer)}.\nExpected: a folder of baselines in a git repository.\n"
            "Look at the baselines as they are: opcost show FILE"
        )
    return Path(answer.stdout.removesuffix("\n"))


def is_shallow(top: Path) -> bool:
    """Whether the clone lacks its older commits."""
    return run_git(top, "rev-parse", "--is-shallow-repository").stdout.strip() == "true"


def steps(top: Path) -> list[Step]:
    """Every change of a YAML file on the way to HEAD, newest first, as it came to this branch: a merge is one step.

    Files that were removed have no step for that. An empty list where there is no commit yet.
    """
    form = "--format=" + "%x1f".join(_FIELDS) + _END
    wanted = ("-z", "--raw", "--no-abbrev", "-M", "-m", "--first-parent", "--diff-filter=AMRT")
    answer = run_git(top, "log", form, *wanted, "--", ":(top,glob)**/*.yaml")
    if answer.returncode:
        if "does not have any commits" in answer.stderr:
            return []
        raise FileError(f"{top}: no history: {reason(answer)}.")
    return list(_steps(answer.stdout.split("\0")))


def _steps(fields: Sequence[str]) -> Iterable[Step]:
    """The fields of `git log -z --raw`: a commit, then a line of modes and blobs and one or two paths a file."""
    commit: Commit | None = None
    place, rest = 0, iter(fields)
    for field in rest:
        field = field.lstrip("\n")
        if commit is not None and field.startswith(":"):
            _, _, _, blob, status = field.split(" ")
            before = path = next(rest)
            if status.startswith("R"):
                path = next(rest)
            yield Step(commit, path, blob, before)
        elif field:
            name, day, subject = printable(field).split("\x1f", 2)
            commit, place = Commit(name, day, subject, place), place + 1


def course(path: str, all_steps: Iterable[Step]) -> list[Step]:
    """The steps of one file from the oldest to the newest, renames followed backwards."""
    found = []
    for step in all_steps:
        if step.path == path:
            found.append(step)
            path = step.before
    return found[::-1]


def contents(top: Path, blobs: Iterable[str]) -> Mapping[str, str]:
    """The text of each blob; raises FileError where git cannot tell it."""
    names = list(dict.fromkeys(blobs))
    if not names:
        return {}
    answer = run_git(top, "cat-file", "--batch", asked="".join(f"{name}\n" for name in names))
    if answer.returncode:
        raise FileError(f"{top}: no history: {reason(answer)}.")
    found, rest = {}, answer.stdout.encode("utf-8", "surrogateescape")
    for name in names:
        head, _, rest = rest.partition(b"\n")
        size = head.rpartition(b" ")[2]
        if not size.isdigit():  # a partial clone that cannot reach its remote
            raise FileError(f"{top}: git has no {name[:12]}: {head.decode(errors='replace')}.")
        found[name] = rest[: int(size)].decode("utf-8", "replace")
        rest = rest[int(size) + 1 :]
    return found
