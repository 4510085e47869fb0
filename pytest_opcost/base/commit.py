"""Which repository a folder is in, and which commit a name stands for in it; else what to do about it."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from shlex import quote

from pytest_opcost.base.git import git, printable, reason, run_git
from pytest_opcost.errors import BaseError

_WITHOUT = "To compare with stored baselines instead: pytest --opcost"


def find_top(start: Path) -> Path:
    """The top level of the working tree that `start` lies in, symbolic links resolved.

    Raises BaseError where there is none: no repository, a bare one, one that git does not trust.
    """
    answer = run_git(start, "rev-parse", "--show-toplevel")
    if not answer.returncode:
        return Path(answer.stdout.removesuffix("\n"))
    if dubious := re.search(r"dubious ownership in repository at '(.*)'", printable(answer.stderr)):
        raise BaseError(
            f"git does not read {dubious[1]}: {reason(answer)}, that is, it belongs to another user.\n"
            f"If you trust it, run: git config --global --add safe.directory {quote(dubious[1])}"
        )
    if "not a git repository" in answer.stderr:
        raise BaseError(
            f"{start} is not in a git repository.\n"
            "Expected: the tests in a clone, since --opcost-base checks another commit of it out.\n" + _WITHOUT
        )
    if "must be run in a work tree" in answer.stderr:
        raise BaseError(
            f"{start} is in a bare repository, or in the .git folder of one: there is no head to compare.\n"
            "Expected: a folder with files that are checked out.\nMake one: git worktree add FOLDER BRANCH"
        )
    raise BaseError(f"git does not read {start}: {reason(answer)}.")


def find_commit(top: Path, ref: str) -> str:
    """The full name of the commit that `ref` stands for, a tag's commit for a tag.

    Raises BaseError for a name that git does not know here, or that is something else than a commit.
    """
    if not ref.strip() or ref.startswith(("-", "^")):
        raise BaseError(
            f"--opcost-base={ref!r} is not valid.\nExpected: a commit, such as origin/main, HEAD~1 or v1.2."
        )
    named = run_git(top, "rev-parse", "--verify", ref)
    if named.returncode:
        raise _unknown(top, ref, printable(named.stderr))
    found = named.stdout.strip()
    commit = run_git(top, "rev-parse", "--verify", "--quiet", found + "^{commit}")
    if not commit.returncode:
        return commit.stdout.strip()
    kind = run_git(top, "cat-file", "-t", found)
    if kind.returncode:  # a full name that git can read, of nothing that is here
        raise _unknown(top, ref, "")
    raise BaseError(
        f"--opcost-base={ref} is a {kind.stdout.strip()}, not a commit.\n"
        "Expected: a commit, such as origin/main, HEAD~1 or v1.2."
    )


def subject_of(top: Path, commit: str) -> str:
    """The first line of the commit's message; empty where it has none."""
    return printable(git(top, "log", "-1", "--format=%s", "--encoding=UTF-8", commit))


def _unknown(top: Path, ref: str, stderr: str) -> BaseError:
    if "is ambiguous" in stderr:
        candidates = re.findall(r"^hint:\s+(\w+ commit .*)$", stderr, re.MULTILINE)
        bullets = "".join(f"\n  - {candidate}" for candidate in candidates)
        return BaseError(
            f"--opcost-base={ref} is the beginning of more than one name in {top}:{bullets}\nExpected: one commit."
        )
    lines = [f"--opcost-base={ref}: there is no such commit in {top}."]
    shallow = git(top, "rev-parse", "--is-shallow-repository") == "true"
    if shallow:
        lines.append("Found: a shallow clone, which lacks the commits before its own.")
    if close := _close(top, ref):
        lines.append(f"Close to it: {', '.join(close)}.")
    remote, _, branch = ref.partition("/")
    if branch and remote in git(top, "remote").splitlines():
        depth = "--depth=1 " if shallow else ""
        lines.append(f"Fetch it: git fetch {depth}{remote} {branch}:refs/remotes/{ref}")
    elif shallow:
        lines.append("Fetch it: git fetch --unshallow")
    else:
        lines.append("List what there is: git branch --all; git tag. Fetch what is new: git fetch --all --tags")
    if shallow:
        lines.append("In GitHub Actions: actions/checkout with fetch-depth: 0")
    return BaseError("\n".join(lines))


def _close(top: Path, ref: str) -> list[str]:
    """Up to three branches and tags that may have been meant: first those that only lack a remote or have another."""
    listed = git(top, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
    names = printable(listed).splitlines()
    last = ref.rpartition("/")[2]
    same = [name for name in names if name.rpartition("/")[2] == last]
    return list(dict.fromkeys([*same, *difflib.get_close_matches(ref, names)]))[:3]
