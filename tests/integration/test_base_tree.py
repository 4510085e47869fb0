"""Another commit is checked out beside the user's repository, which stays exactly as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.base.worktree import checked_out
from pytest_opcost.errors import BaseError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .repository import Repository


@pytest.fixture
def at_work(repository: Repository) -> Repository:
    """The repository in the middle of the user's work: staged, unstaged, untracked, ignored and stashed changes."""
    repository.write("model.py", "COST = 3\n")
    repository.git("stash")
    repository.write("staged.py", "STAGED = True\n")
    repository.git("add", "staged.py")
    repository.write("staged.py", "STAGED = 'and changed again'\n")
    repository.write("model.py", "COST = 4\n")
    repository.write("untracked.py", "UNTRACKED = True\n")
    repository.write("built.so", "ignored\n")
    repository.write("sub/folder.py", "")
    repository.git("branch", "other")
    # What git would refresh in the index if it were asked to: a file that is touched but the same.
    os.utime(repository.top / ".gitignore", (1, 1))
    return repository


@pytest.fixture
def unchanged(at_work: Repository, tmp_path: Path) -> Iterator[Repository]:
    """The repository at work; afterwards it must be as it was, and no temporary folder left."""
    before = at_work.snapshot()
    yield at_work
    assert at_work.snapshot() == before
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_tree_holds_the_commit_and_says_which(unchanged: Repository) -> None:
    with checked_out(unchanged.top, "HEAD~1") as base:
        assert (base.path / "model.py").read_text() == "COST = 1\n"
        assert sorted(path.name for path in base.path.iterdir()) == [".git", ".gitignore", "model.py"]
        assert base.top == unchanged.top
        assert base.ref == "HEAD~1"
        assert base.commit == unchanged.git("rev-parse", "HEAD~1")
        assert base.subject == "Begin"


def test_the_tree_lies_outside_and_has_the_folders_name(unchanged: Repository) -> None:
    with checked_out(unchanged.top, "HEAD~1") as base:
        assert not base.path.is_relative_to(unchanged.top)
        assert base.path.name == "model"


def test_the_trees_path_has_no_links(unchanged: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "tmp")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "link"))
    with checked_out(unchanged.top, "HEAD~1") as base:
        assert base.path.is_relative_to(tmp_path / "tmp")


def test_the_users_files_are_as_they_were_meanwhile(at_work: Repository) -> None:
    before = at_work.snapshot()
    with checked_out(at_work.top, "HEAD~1"):
        meanwhile = at_work.snapshot()
    changed = {name for name in meanwhile if before.get(name) != meanwhile[name]}
    own = str(at_work.top / ".git" / "worktrees")
    assert {name for name in changed if not name.startswith(own)} == {"worktree list --porcelain"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError, GeneratorExit])
def test_it_is_removed_whatever_ends_the_body(unchanged: Repository, error: type[BaseException]) -> None:
    with pytest.raises(error), checked_out(unchanged.top, "HEAD~1") as base:
        raise error
    assert not base.path.exists()


def test_it_is_removed_with_what_the_tests_left_in_it(unchanged: Repository) -> None:
    with checked_out(unchanged.top, "HEAD~1") as base:
        (base.path / "model.py").write_text("changed\n")
        (base.path / "deep" / "er").mkdir(parents=True)
        (base.path / "deep" / "er" / "file").touch()
        (base.path / "deep" / "er").chmod(0o500)


def test_it_is_removed_where_somebody_removed_it_already(unchanged: Repository) -> None:
    with checked_out(unchanged.top, "HEAD~1") as base:
        unchanged.git("worktree", "remove", "--force", str(base.path))


def test_two_at_once(unchanged: Repository) -> None:
    with checked_out(unchanged.top, "HEAD~1") as first, checked_out(unchanged.top, "HEAD") as second:
        assert (first.path / "model.py").read_text() == "COST = 1\n"
        assert (second.path / "model.py").read_text() == "COST = 2\n"
        assert unchanged.worktrees() == 3


def test_from_a_folder_below_and_through_a_link(unchanged: Repository, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(unchanged.top / "sub")
    with checked_out(tmp_path / "link", "HEAD~1") as base:
        assert base.top == unchanged.top
        assert (base.path / "model.py").read_text() == "COST = 1\n"


def test_from_a_linked_worktree_of_the_users_own(at_work: Repository, tmp_path: Path) -> None:
    at_work.git("worktree", "add", "--quiet", str(tmp_path / "mine"), "other")
    (tmp_path / "mine" / "model.py").write_text("COST = 5\n")
    before = at_work.snapshot()
    with checked_out(tmp_path / "mine", "HEAD~1") as base:
        assert base.top == tmp_path / "mine"
        assert base.path.name == "mine"
        assert (base.path / "model.py").read_text() == "COST = 1\n"
    assert at_work.snapshot() == before
    assert (tmp_path / "mine" / "model.py").read_text() == "COST = 5\n"


def test_from_a_worktree_of_a_bare_repository(repository: Repository, tmp_path: Path) -> None:
    repository.git("clone", "--quiet", "--bare", str(repository.top), str(tmp_path / "bare.git"))
    repository.git("worktree", "add", "--quiet", str(tmp_path / "mine"), "main", at=tmp_path / "bare.git")
    with checked_out(tmp_path / "mine", "HEAD~1") as base:
        assert (base.path / "model.py").read_text() == "COST = 1\n"
    assert repository.git("worktree", "list", at=tmp_path / "mine").count("\n") == 1


def test_in_a_hook_that_git_has_told_which_index_it_is_about(
    unchanged: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(unchanged.top)
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(unchanged.top / ".git" / "index"))
    with checked_out(unchanged.top, "HEAD~1") as base:
        assert base.top == unchanged.top
        assert (base.path / "model.py").read_text() == "COST = 1\n"


def test_the_users_hooks_do_not_run(at_work: Repository, tmp_path: Path) -> None:
    hook = at_work.write(".git/hooks/post-checkout", f"#!/bin/sh\ntouch '{tmp_path}/mark'\n")
    hook.chmod(0o755)
    at_work.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "control"))
    assert (tmp_path / "mark").exists()
    at_work.git("worktree", "remove", str(tmp_path / "control"))
    (tmp_path / "mark").unlink()
    before = at_work.snapshot()
    with checked_out(at_work.top, "HEAD~1"):
        pass
    assert not (tmp_path / "mark").exists()
    assert at_work.snapshot() == before


def test_the_users_branch_can_be_checked_out_as_a_base(unchanged: Repository) -> None:
    with checked_out(unchanged.top, "main") as base:
        assert base.subject == "Make the model dearer"
        assert unchanged.git("branch", "--show-current") == "main"
        assert unchanged.git("branch", "--show-current", at=base.path) == ""


def test_a_forked_process_that_ends_leaves_the_tree(unchanged: Repository) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("needs os.fork")
    script = (
        "import os, sys, warnings; from pathlib import Path; from pytest_opcost.base.worktree import checked_out\n"
        "with checked_out(Path(sys.argv[1]), 'HEAD~1') as base:\n"
        "    if not os.fork():\n        sys.exit()\n"
        "    os.wait(); print((base.path / 'model.py').exists())\n"
    )
    done = subprocess.run([sys.executable, "-c", script, unchanged.top], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_a_tree_that_is_not_removed_is_said(at_work: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BaseError) as caught, checked_out(at_work.top, "HEAD~1") as base:
        monkeypatch.setattr("pytest_opcost.base.leftovers._delete", lambda folder: None)
    assert str(caught.value) == (
        f"--opcost-base: the checkout in {base.path} could not be removed.\n"
        f"Remove it: git -C {at_work.top} worktree remove --force --force {base.path}; rm -rf {base.path.parent}"
    )
