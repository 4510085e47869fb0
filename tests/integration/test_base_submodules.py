"""Submodules of the base commit come from the user's own clones, without a network; dirty ones are refused."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.base.worktree import checked_out
from pytest_opcost.errors import BaseError

from .repository import Repository, new_repository

if TYPE_CHECKING:
    from pathlib import Path

_LOCAL = ("-c", "protocol.file.allow=always")


@pytest.fixture
def library(repository: Repository, tmp_path: Path) -> Repository:
    """A library with a submodule of its own; it is moved away once it is cloned, as if there were no network."""
    nested = new_repository(tmp_path / "nested")
    nested.commit("Begin nested", nested__py="NESTED = 1\n")
    library = new_repository(tmp_path / "library")
    library.commit("Begin library", lib__py="LIB = 1\n")
    library.git(*_LOCAL, "submodule", "--quiet", "add", nested.top.as_uri(), "deep/nested")
    library.commit("Add nested")
    return library


@pytest.fixture
def whole(repository: Repository, library: Repository, tmp_path: Path) -> Repository:
    """A repository whose base (HEAD~1) has the library at `vendor/lib` in version 1, and head in version 2."""
    repository.git(*_LOCAL, "submodule", "--quiet", "add", "--name", "the lib", library.top.as_uri(), "vendor/lib")
    repository.git(*_LOCAL, "submodule", "--quiet", "update", "--init", "--recursive")
    repository.commit("Use the library")
    lib = Repository(repository.top / "vendor" / "lib")
    lib.commit("Version 2", lib__py="LIB = 2\n")
    repository.commit("Use version 2")
    library.top.rename(tmp_path / "unreachable")
    (tmp_path / "nested").rename(tmp_path / "unreachable too")
    return repository


def refusal(start: Path, ref: str) -> str:
    with pytest.raises(BaseError) as caught, checked_out(start, ref):
        pass
    return str(caught.value)


def test_they_are_checked_out_at_their_commits_at_any_depth(whole: Repository) -> None:
    before = whole.snapshot()
    with checked_out(whole.top, "HEAD~1") as base:
        assert (base.path / "vendor" / "lib" / "lib.py").read_text() == "LIB = 1\n"
        assert (base.path / "vendor" / "lib" / "deep" / "nested" / "nested.py").read_text() == "NESTED = 1\n"
        assert whole.git("status", "--porcelain", at=base.path) == ""
    assert whole.snapshot() == before
    assert whole.worktrees() == 1


def test_also_those_that_head_has_no_more(whole: Repository) -> None:
    whole.git("rm", "--quiet", "vendor/lib")
    whole.commit("Do without the library")
    before = whole.snapshot()
    with checked_out(whole.top, "HEAD~1") as base:
        assert (base.path / "vendor" / "lib" / "lib.py").read_text() == "LIB = 2\n"
        assert (base.path / "vendor" / "lib" / "deep" / "nested" / "nested.py").exists()
    assert whole.snapshot() == before


def test_from_a_linked_worktree_without_its_own_clones(whole: Repository, tmp_path: Path) -> None:
    whole.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "mine"))
    with checked_out(tmp_path / "mine", "HEAD~1") as base:
        assert (base.path / "vendor" / "lib" / "lib.py").read_text() == "LIB = 1\n"


def test_in_a_submodule_itself(whole: Repository) -> None:
    before = whole.snapshot()
    with checked_out(whole.top / "vendor" / "lib", "HEAD~1") as base:
        assert base.top == whole.top / "vendor" / "lib"
        assert (base.path / "lib.py").read_text() == "LIB = 1\n"
        assert (base.path / "deep" / "nested" / "nested.py").exists()
    assert whole.snapshot() == before


def test_from_a_shallow_clone_of_the_submodule(whole: Repository, tmp_path: Path) -> None:
    top = tmp_path / "shallow"
    whole.git("clone", "--quiet", "--depth=1", whole.top.as_uri(), str(top))
    whole.git("config", "submodule.the lib.url", (whole.top / "vendor" / "lib").as_uri(), at=top)
    whole.git(*_LOCAL, "submodule", "--quiet", "update", "--depth=1", "--init", at=top)
    with checked_out(top, "HEAD") as base:
        assert (base.path / "vendor" / "lib" / "lib.py").read_text() == "LIB = 2\n"
        assert whole.git("log", "--format=%s", at=base.path / "vendor" / "lib") == "Version 2"


def test_one_that_the_user_never_wanted_stays_empty(whole: Repository, tmp_path: Path) -> None:
    whole.git("clone", "--quiet", str(whole.top), str(tmp_path / "without"))
    with checked_out(tmp_path / "without", "HEAD~1") as base:
        assert list((base.path / "vendor" / "lib").iterdir()) == []


def test_a_clone_that_lacks_the_commit(whole: Repository) -> None:
    missing = "1" * 40
    whole.git("update-index", "--cacheinfo", f"160000,{missing},vendor/lib")
    whole.git("commit", "--quiet", "--message", "Use a version that nobody pushed")
    whole.git("reset", "--quiet", "--hard", "HEAD~1")
    before = whole.snapshot()
    clone = whole.top / ".git" / "modules" / "the lib"
    assert refusal(whole.top, "HEAD@{1}") == (
        f"--opcost-base: the base commit has the submodule {whole.top / 'vendor' / 'lib'} at {missing}, which your "
        f"clone of it lacks.\nFound: {clone}.\nFetch it: git -C {whole.top / 'vendor' / 'lib'} fetch --all"
    )
    assert whole.snapshot() == before


def test_a_clone_that_lacks_the_commit_of_one_that_head_has_no_more(whole: Repository, tmp_path: Path) -> None:
    whole.git("update-index", "--cacheinfo", f"160000,{'1' * 40},vendor/lib")
    whole.git("commit", "--quiet", "--message", "Use a version that nobody pushed")
    whole.git("reset", "--quiet", "--hard", "HEAD~1")
    whole.git("rm", "--quiet", "vendor/lib")
    whole.commit("Do without the library")
    mend = refusal(whole.top, "HEAD@{2}").rpartition("Fetch it: ")[2]
    assert mend == f"git --git-dir='{whole.top}/.git/modules/the lib' --work-tree=. fetch --all"
    (tmp_path / "unreachable").rename(tmp_path / "library")
    whole.git(*shlex.split(mend)[1:])


class TestDirty:
    def test_uncommitted_work(self, whole: Repository) -> None:
        whole.write("vendor/lib/lib.py", "LIB = 3\n")
        before = whole.snapshot()
        assert refusal(whole.top, "HEAD~1") == (
            "--opcost-base: a submodule is not as the repository records it; head would be measured with code that no "
            "commit of it names:\n"
            "  - vendor/lib: has uncommitted changes\n"
            "Run: git -C vendor/lib stash, or git -C vendor/lib commit and git add vendor/lib"
        )
        assert whole.snapshot() == before

    def test_another_commit_than_the_recorded_one(self, whole: Repository) -> None:
        whole.git("checkout", "--quiet", "HEAD~1", at=whole.top / "vendor" / "lib")
        message = refusal(whole.top, "HEAD~1")
        assert "\n  - vendor/lib: another commit is checked out than the one recorded\n" in message
        assert message.endswith(
            "Run: git submodule update -- vendor/lib, or git add vendor/lib if that commit is meant"
        )

    def test_uncommitted_work_further_down(self, whole: Repository) -> None:
        whole.write("vendor/lib/deep/nested/nested.py", "NESTED = 2\n")
        assert "\n  - vendor/lib: has uncommitted changes\n" in refusal(whole.top, "HEAD~1")

    def test_also_where_the_user_told_git_status_to_ignore_it(self, whole: Repository) -> None:
        whole.git("config", "submodule.the lib.ignore", "all")
        whole.write("vendor/lib/lib.py", "LIB = 3\n")
        assert "\n  - vendor/lib: has uncommitted changes\n" in refusal(whole.top, "HEAD~1")

    def test_a_new_commit_that_is_staged_passes(self, whole: Repository) -> None:
        whole.git("checkout", "--quiet", "HEAD~1", at=whole.top / "vendor" / "lib")
        whole.git("add", "vendor/lib")
        before = whole.snapshot()
        with checked_out(whole.top, "HEAD") as base:
            assert (base.path / "vendor" / "lib" / "lib.py").read_text() == "LIB = 2\n"
        assert whole.snapshot() == before

    def test_what_a_build_left_passes(self, whole: Repository) -> None:
        whole.write("vendor/lib/lib.so", "")
        with checked_out(whole.top, "HEAD~1"):
            pass

    def test_uncommitted_work_of_the_repository_itself_passes(self, whole: Repository) -> None:
        whole.write("model.py", "COST = 3\n")
        with checked_out(whole.top, "HEAD~1"):
            pass
