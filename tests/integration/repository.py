"""A user's git repository, and all that must be the same in it afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_opcost.base import git as git_room


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository whose working tree is at `top`."""

    top: Path

    def git(self, *arguments: str, at: Path | None = None, **environment: str) -> str:
        """What git prints; fails where git fails. As the user would call it, but without refreshing the index."""
        outer = {name: value for name, value in os.environ.items() if name not in git_room._FOR_ONE_REPOSITORY}
        return subprocess.run(
            ["git", "-C", str(at or self.top), *arguments],
            env=outer | {"GIT_OPTIONAL_LOCKS": "0"} | environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def write(self, name: str, text: str) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, subject: str, **files: str) -> str:
        """A commit with `files` (a double underscore stands for a dot), and its full name."""
        for name, text in files.items():
            self.write(name.replace("__", "."), text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.git("rev-parse", "HEAD")

    def snapshot(self) -> dict[str, object]:
        """Everything that is the user's: what git says of it, and every byte below `top`, git's own files included."""
        questions = (
            ("status", "--porcelain", "--ignored"),
            ("stash", "list"),
            ("worktree", "list", "--porcelain"),
            ("branch", "--all", "--verbose"),
            ("rev-parse", "HEAD"),
            ("diff", "--cached"),
        )
        said: dict[str, object] = {" ".join(question): self.git(*question) for question in questions}
        found = {path: path.read_bytes() if path.is_file() else None for path in sorted(self.top.rglob("*"))}
        return said | {str(path): content for path, content in found.items()}

    def worktrees(self) -> int:
        return self.git("worktree", "list", "--porcelain").count("worktree ")


def new_repository(top: Path) -> Repository:
    """A repository without a commit."""
    top.mkdir(parents=True)
    repository = Repository(top.resolve())
    repository.git("init", "--quiet", "--initial-branch=main")
    return repository


def prepare_git(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Settings of nobody but the tests; skips where there is no git."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    home.mkdir(exist_ok=True)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A User")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "user@example.org")
