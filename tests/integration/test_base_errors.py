"""A base that cannot be had: a message that says what was found and what to do, and a repository that is untouched."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.base.worktree import checked_out
from pytest_opcost.errors import BaseError, OpcostError

from .repository import new_repository, prepare_git

if TYPE_CHECKING:
    from pathlib import Path

    from .repository import Repository


def refusal(start: Path, ref: str) -> str:
    """What `checked_out` says instead of checking `ref` out."""
    with pytest.raises(BaseError) as caught, checked_out(start, ref):
        pass
    return str(caught.value)


def test_it_is_one_of_the_packages_errors() -> None:
    assert issubclass(BaseError, OpcostError)


def test_not_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_git(monkeypatch, tmp_path / "home")
    assert refusal(tmp_path, "HEAD") == (
        f"{tmp_path} is not in a git repository.\n"
        "Expected: the tests in a clone, since --opcost-base checks another commit of it out.\n"
        "To compare with stored baselines instead: pytest --opcost"
    )


def test_a_bare_repository(repository: Repository, tmp_path: Path) -> None:
    repository.git("clone", "--quiet", "--bare", str(repository.top), str(tmp_path / "bare.git"))
    message = refusal(tmp_path / "bare.git", "HEAD")
    assert message.startswith(f"{tmp_path / 'bare.git'} is in a bare repository")
    assert message.endswith("Make one: git worktree add FOLDER BRANCH")
    assert refusal(repository.top / ".git", "HEAD").startswith(f"{repository.top / '.git'} is in a bare repository, or")


def test_git_is_not_installed(repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal(repository.top, "HEAD") == (
        "git could not be run: No such file or directory.\n"
        "Expected: git on the PATH, since --opcost-base checks another commit out.\n"
        "Install it, or compare with stored baselines: pytest --opcost"
    )


def test_a_repository_of_another_user(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    top = repository.top
    assert refusal(top, "HEAD") == (
        f"git does not read {top}: detected dubious ownership in repository at '{top}', that is, it belongs to another "
        f"user.\nIf you trust it, run: git config --global --add safe.directory {top}"
    )


def test_a_broken_repository(repository: Repository) -> None:
    repository.write(".git/config", "[broken\n")
    assert refusal(repository.top, "HEAD").startswith(f"git does not read {repository.top}: bad config line 1 in file")


def test_a_ref_that_is_not_there(repository: Repository) -> None:
    repository.git("branch", "feature/attention")
    repository.git("update-ref", "refs/remotes/upstream/dev", "HEAD")
    before = repository.snapshot()
    assert refusal(repository.top, "feature/atention") == (
        f"--opcost-base=feature/atention: there is no such commit in {repository.top}.\n"
        "Close to it: feature/attention.\n"
        "List what there is: git branch --all; git tag. Fetch what is new: git fetch --all --tags"
    )
    assert "\nClose to it: upstream/dev.\n" in refusal(repository.top, "dev")
    assert "Close" not in refusal(repository.top, "nothing-like-it")
    assert repository.snapshot() == before


@pytest.mark.parametrize("ref", ["HEAD~5", "0" * 40, "deadbeef", "main..HEAD", "HEAD^{nonsense}", "a b", "ü", "@{u}"])
def test_other_names_of_no_commit(repository: Repository, ref: str) -> None:
    message = refusal(repository.top, ref)
    assert message.startswith(f"--opcost-base={ref}: there is no such commit in {repository.top}.\n")


@pytest.mark.parametrize("ref", ["", " ", "--all", "-h", "^HEAD"])
def test_words_that_are_no_name(repository: Repository, ref: str) -> None:
    assert refusal(repository.top, ref).startswith(f"--opcost-base={ref!r} is not valid.\nExpected: a commit")


@pytest.mark.parametrize(("ref", "kind"), [("HEAD:model.py", "blob"), ("HEAD^{tree}", "tree")])
def test_a_name_of_something_else(repository: Repository, ref: str, kind: str) -> None:
    assert refusal(repository.top, ref).startswith(
        f"--opcost-base={ref} is a {kind}, not a commit.\nExpected: a commit"
    )


def test_a_short_name_that_is_ambiguous(repository: Repository) -> None:
    date, tree = "1700000000 +0000", repository.git("rev-parse", "HEAD^{tree}")
    user = f"A User <user@example.org> {date}"
    begun: dict[str, str] = {}
    for subject in map(str, range(10_000)):
        text = f"tree {tree}\nauthor {user}\ncommitter {user}\n\n{subject}\n"
        short = hashlib.sha1(f"commit {len(text)}\0{text}".encode()).hexdigest()[:4]
        if short in begun:
            break
        begun[short] = subject
    for alike in (subject, begun[short]):
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        assert repository.git("commit-tree", tree, "-m", alike, **dates).startswith(short)
    lines = refusal(repository.top, short).splitlines()
    assert lines[0] == f"--opcost-base={short} is the beginning of more than one name in {repository.top}:"
    assert {line.rpartition(" ")[2] for line in lines[1:-1]} == {subject, begun[short]}
    assert lines[-1] == "Expected: one commit."


def test_a_repository_without_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_git(monkeypatch, tmp_path / "home")
    empty = new_repository(tmp_path / "empty")
    assert refusal(empty.top, "HEAD").startswith(f"--opcost-base=HEAD: there is no such commit in {empty.top}.\n")


def test_a_tag_and_a_search_name_their_commit(repository: Repository) -> None:
    repository.git("tag", "--annotate", "v1", "--message", "Version 1", "HEAD~1")
    for ref in ("v1", ":/Begin", "HEAD@{1}", "main^"):
        with checked_out(repository.top, ref) as base:
            assert (base.ref, base.commit) == (ref, repository.git("rev-parse", "HEAD~1"))


class TestShallowClones:
    @pytest.fixture
    def shallow(self, repository: Repository, tmp_path: Path) -> Path:
        """A clone of depth 1, as CI makes it."""
        url, top = repository.top.as_uri(), tmp_path / "shallow"
        repository.git("clone", "--quiet", "--depth=1", url, str(top))
        return top.resolve()

    def test_an_older_commit(self, shallow: Path) -> None:
        assert refusal(shallow, "HEAD~1") == (
            f"--opcost-base=HEAD~1: there is no such commit in {shallow}.\n"
            "Found: a shallow clone, which lacks the commits before its own.\n"
            "Fetch it: git fetch --unshallow\n"
            "In GitHub Actions: actions/checkout with fetch-depth: 0"
        )

    def test_a_branch_of_the_remote_and_its_mend(self, repository: Repository, shallow: Path) -> None:
        repository.git("branch", "stable", "HEAD~1")
        mend = "git fetch --depth=1 origin stable:refs/remotes/origin/stable"
        assert f"\nFetch it: {mend}\n" in refusal(shallow, "origin/stable")
        repository.git(*mend.split()[1:], at=shallow)
        with checked_out(shallow, "origin/stable") as base:
            assert base.subject == "Begin"


class TestATreeThatCannotBeMade:
    @pytest.fixture(autouse=True)
    def _untouched(self, repository: Repository, tmp_path: Path, request: pytest.FixtureRequest):
        yield
        assert repository.worktrees() == 1
        assert os.listdir(tmp_path / "tmp") == []

    def test_git_cannot_write(self, repository: Repository) -> None:
        repository.write(".git/worktrees", "a file where git wants a folder\n")
        before = repository.snapshot()
        message = refusal(repository.top, "HEAD~1")
        assert message.startswith("--opcost-base=HEAD~1 could not be checked out in ")
        assert ".git/worktrees" in message.splitlines()[0]
        assert f"git worktree add --detach FOLDER {repository.git('rev-parse', 'HEAD~1')[:12]}" in message
        assert repository.snapshot() == before

    def test_a_filter_fails(self, repository: Repository) -> None:
        repository.commit("Keep the weights in LFS", __gitattributes="*.bin filter=lfs\n", weights__bin="pointer\n")
        repository.git("config", "filter.lfs.smudge", "false")
        repository.git("config", "filter.lfs.clean", "cat")
        repository.git("config", "filter.lfs.required", "true")
        before = repository.snapshot()
        message = refusal(repository.top, "HEAD")
        assert "weights.bin: smudge filter lfs failed.\nExpected: room there, " in message
        assert repository.snapshot() == before

    def test_no_temporary_folder(self, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
        message = refusal(repository.top, "HEAD~1")
        assert message == "--opcost-base: no temporary folder could be made: No such file or directory."

    def test_a_temporary_folder_in_the_repository(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = repository.snapshot()
        monkeypatch.setattr("tempfile.tempdir", str(repository.top))
        message = refusal(repository.top, "HEAD~1")
        assert message.startswith(f"--opcost-base: the temporary folder {repository.top} lies in the repository")
        assert message.endswith("Set TMPDIR to a folder outside of it.")
        assert repository.snapshot() == before
