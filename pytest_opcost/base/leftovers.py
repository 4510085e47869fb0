"""Removing our own worktrees and no other: those of this run, and those of runs that were killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.base.git import git, run_git
from pytest_opcost.errors import BaseError

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What the temporary folders around our trees begin with: what tells our worktrees from the user's own.
PREFIX = "pytest-opcost-base-"


@contextlib.contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Meanwhile other runs see that `folder` is in use: by a lock that ends with this process, however it ends."""
    if sys.platform == "win32":  # nobody can tell there: what a killed run left stays
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def remove_leftovers(top: Path) -> None:
    """Removes our trees of runs that were killed.

    `git worktree prune` would also forget the user's own worktrees whose folder is not there now, such as those on a
    disk that is not mounted.
    """
    for tree in worktrees(top):
        if tree.parent.name.startswith(PREFIX) and not _is_in_use(tree.parent):
            remove(top, tree, os.getpid())


def remove(top: Path, tree: Path, owner: int) -> bool:
    """Deletes one of our trees with its temporary folder, and makes git forget it; False where something is left.

    Does nothing in another process than `owner`: a forked one ends with a copy of what its parent has still to do.
    """
    if os.getpid() != owner:
        return True
    _delete(tree.parent)
    # Twice --force: a tree that was interrupted while it was made is locked. Without a folder, git only forgets it.
    run_git(top, "worktree", "remove", "--force", "--force", str(tree))
    # A checkout that failed leaves the folder of all worktrees behind, empty.
    with contextlib.suppress(OSError, BaseError):
        (top / git(top, "rev-parse", "--git-common-dir") / "worktrees").rmdir()
    return not tree.parent.exists() and tree not in worktrees(top)


def worktrees(top: Path) -> list[Path]:
    """All working trees that the repository at `top` knows of, there or not."""
    lines = run_git(top, "worktree", "list", "--porcelain").stdout.splitlines()
    return [Path(line.removeprefix("worktree ")) for line in lines if line.startswith("worktree ")]


def _is_in_use(folder: Path) -> bool:
    if sys.platform == "win32":
        return folder.exists()
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # another user's
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _delete(folder: Path) -> None:
    """Deletes a folder, also with read-only files and folders in it, as far as that goes."""
    shutil.rmtree(folder, ignore_errors=True)
    for parent, folders, files in os.walk(folder):  # what is left
        for path in (Path(parent, name) for name in (*folders, *files)):
            if not path.is_symlink():
                with contextlib.suppress(OSError):
                    path.chmod(stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)
