"""Running git on the user's repository so that it answers in English and changes nothing that it was not told to."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from pytest_opcost.errors import BaseError

if TYPE_CHECKING:
    from pathlib import Path

#: A hook that runs pytest (pre-commit, pre-push) sets these for the repository and the index that it is about: with
#: them, git would take every folder for that repository's, and write another tree's entries into the user's index.
_FOR_ONE_REPOSITORY = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)

_SETTINGS = (
    f"core.hooksPath={os.devnull}",  # the user's post-checkout hook is not about our tree
    "core.fsmonitor=false",  # may start a process that watches our tree and outlives it
    "core.quotePath=false",
    "advice.detachedHead=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


def run_git(folder: Path, *arguments: str, asked: str = "") -> subprocess.CompletedProcess[str]:
    """What `git ARGUMENTS` answers in `folder` to what it is asked, whatever its exit status.

    Raises BaseError where there is no git.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _FOR_ONE_REPOSITORY}
    # Without optional locks, `git status` leaves the index as it is; without a prompt, a fetch fails and does not wait.
    environment |= {"LC_ALL": "C", "LANGUAGE": "", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    settings = (word for setting in _SETTINGS for word in ("-c", setting))
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *settings, *arguments],
            env=environment,
            input=asked,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",  # a path need not be UTF-8
            check=False,
        )
    except OSError as error:
        raise BaseError(
            f"git could not be run: {error.strerror}.\n"
            "Expected: git on the PATH, since --opcost-base checks another commit out.\n"
            "Install it, or compare with stored baselines: pytest --opcost"
        ) from error


def git(folder: Path, *arguments: str) -> str:
    """What `git ARGUMENTS` prints in `folder`, without the last newline. Raises BaseError where git fails."""
    answer = run_git(folder, *arguments)
    if answer.returncode:
        raise BaseError(f"git {' '.join(arguments)} failed in {folder}: {reason(answer)}.")
    return answer.stdout.removesuffix("\n")


def reason(answer: subprocess.CompletedProcess[str]) -> str:
    """Git's own last word on why it failed, in one line."""
    lines = [line.strip() for line in printable(answer.stderr).splitlines() if line.strip()]
    blamed = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    return blamed[-1].partition(": ")[2].rstrip(".") or blamed[-1] if blamed else f"exit status {answer.returncode}"


def printable(text: str) -> str:
    """Git's output with a question mark for each byte that is not UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
