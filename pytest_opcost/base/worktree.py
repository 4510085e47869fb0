"""Another commit of the user's repository, checked out beside it while it is needed, and gone afterwards."""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from pytest_opcost.base.commit import find_commit, find_top, subject_of
from pytest_opcost.base.git import git, reason, run_git
from pytest_opcost.base.leftovers import PREFIX, in_use, remove, remove_leftovers
from pytest_opcost.base.signals import stopping_like_ctrl_c
from pytest_opcost.base.submodules import fill_submodules, refuse_dirty_submodules
from pytest_opcost.errors import BaseError

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class BaseTree:
    """A commit that is checked out in `path`, beside the user's repository at `top`; both without symbolic links.

    `ref` is what the user called it, `commit` its full name, `subject` the first line of its message.
    """

    top: Path
    path: Path
    ref: str
    commit: str
    subject: str


@contextlib.contextmanager
def checked_out(start: Path, ref: str) -> Iterator[BaseTree]:
    """The commit `ref` of the repository that `start` lies in, as a git worktree in a temporary folder.

    The user's files, index, HEAD, branches, stash and hooks are left alone. The tree is removed at the end, however
    that comes: by an exception, Ctrl-C, SIGTERM or at exit; what a killed run left, the next one removes. Submodules
    are checked out from the user's clones. Filters (LFS) run as in any checkout.

    Raises BaseError where there is no git, no repository or no such commit, where a submodule is not as recorded (see
    `refuse_dirty_submodules`), and where the tree can be made or removed only in part.
    """
    top = find_top(start)
    commit = find_commit(top, ref)
    refuse_dirty_submodules(top)
    remove_leftovers(top)
    with stopping_like_ctrl_c():
        # Some imports need the folder's name: where the repository's top is a package itself.
        path = _new_folder(top) / top.name
        end = partial(remove, top, path, os.getpid())
        atexit.register(end)
        try:
            with in_use(path.parent):
                _check_out(top, path, ref, commit)
                yield BaseTree(top, path, ref, commit, subject_of(top, commit))
        finally:
            removed = end()
            atexit.unregister(end)
            if not removed:
                raise BaseError(
                    f"--opcost-base: the checkout in {path} could not be removed.\n"
                    f"Remove it: git -C {quote(str(top))} worktree remove --force --force {quote(str(path))}; "
                    f"rm -rf {quote(str(path.parent))}"
                )


def _new_folder(top: Path) -> Path:
    """A temporary folder of our own, outside of the repository: what walks that must not find the base's files too."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    except OSError as error:
        raise BaseError(f"--opcost-base: no temporary folder could be made: {error.strerror}.") from error
    if folder.is_relative_to(top):
        folder.rmdir()
        raise BaseError(
            f"--opcost-base: the temporary folder {folder.parent} lies in the repository, where the checkout would be "
            "taken for a part of it.\nSet TMPDIR to a folder outside of it."
        )
    return folder


def _check_out(top: Path, path: Path, ref: str, commit: str) -> None:
    answer = run_git(top, "worktree", "add", "--quiet", "--detach", str(path), commit)
    if answer.returncode:
        raise BaseError(
            f"--opcost-base={ref} could not be checked out in {path.parent}: {reason(answer)}.\n"
            "Expected: room there, a .git folder that can be written, and the filters (LFS) that the files need.\n"
            f"To see all that git says: git worktree add --detach FOLDER {commit[:12]}"
        )
    stores = git(top, "rev-parse", "--git-dir", "--git-common-dir").splitlines()
    fill_submodules(top, [(top / store).resolve() for store in stores], path)
