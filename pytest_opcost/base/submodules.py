"""Submodules of the base commit, from the clones that the user has of them; and those of head that nobody committed."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from pytest_opcost.base.git import git, reason, run_git
from pytest_opcost.errors import BaseError


def refuse_dirty_submodules(top: Path) -> None:
    """Raises BaseError, naming them, for submodules at `top` with work or commits that the repository does not record.

    Uncommitted work in the repository itself is what a user may well want judged, and is in plain sight. A submodule
    that differs is mostly an accident, a pull without `git submodule update`: head would be measured with code that no
    commit of it names, and the drift blamed on the commits between. A new commit of a submodule that was staged
    (`git add`) is recorded, and passes; so do untracked files, which are mostly what a build left.
    """
    paths = _recorded(top)
    if not paths:
        return
    states = git(
        top, "status", "--porcelain=v2", "-z", "--ignore-submodules=none", "--untracked-files=no", "--", *paths
    )
    bullets, mends = [], []
    for line in states.split("\0"):
        if not line.startswith("1 "):
            continue
        _, _, state, *_, path = line.split(" ", 8)  # "1 XY S<commit><modified><untracked> ... path"
        if state[1] == "C":
            bullets.append(f"  - {path}: another commit is checked out than the one recorded")
            mends.append(f"git submodule update -- {quote(path)}, or git add {quote(path)} if that commit is meant")
        if state[2] == "M":
            bullets.append(f"  - {path}: has uncommitted changes")
            mends.append(f"git -C {quote(path)} stash, or git -C {quote(path)} commit and git add {quote(path)}")
    if bullets:
        raise BaseError(
            "--opcost-base: a submodule is not as the repository records it; head would be measured with code that no "
            "commit of it names:\n" + "\n".join(bullets) + "\nRun: " + "\nRun: ".join(mends)
        )


def fill_submodules(checkout: Path, stores: list[Path], tree: Path) -> None:
    """Checks out in `tree` the submodules that its commit records, at any depth, without a network.

    `checkout` is where the user has the same repository checked out, `stores` its git folders, whose `modules` hold
    the submodules' clones. Their objects are borrowed: nothing is written into them. A submodule that the user has no
    clone of was not wanted so far, and stays as empty as `git clone` leaves it. Raises BaseError where a clone lacks
    the commit.
    """
    for path, commit in _recorded(tree).items():
        clones = _clones(checkout / path, [store / "modules" / _name(tree, path) for store in stores])
        if clones:
            _check_out(tree / path, commit, clones, checkout / path)
            fill_submodules(checkout / path, clones, tree / path)


def _recorded(tree: Path) -> dict[str, str]:
    """Each submodule in the tree's index and the commit that is recorded for it."""
    entries = git(tree, "ls-files", "--stage", "-z").split("\0")
    links = (entry.partition("\t") for entry in entries if entry.startswith("160000 "))
    return {path: stage.split(" ")[1] for stage, _, path in links}


def _name(tree: Path, path: str) -> str:
    """What .gitmodules calls the submodule at `path`: its clone's folder; the path where nothing is said."""
    answer = run_git(
        tree, "config", "-z", "--file", str(tree / ".gitmodules"), "--get-regexp", r"^submodule\..*\.path$"
    )
    for entry in answer.stdout.split("\0"):
        key, _, value = entry.partition("\n")
        if value == path:
            return key.removeprefix("submodule.").removesuffix(".path")
    return path


def _clones(checkout: Path, stored: list[Path]) -> list[Path]:
    """The git folders of the clones that there are of one submodule."""
    found = [folder for folder in stored if (folder / "objects").is_dir()]
    if (checkout / ".git").exists():
        found.insert(0, (checkout / git(checkout, "rev-parse", "--git-common-dir")).resolve())
    return list(dict.fromkeys(found))


def _check_out(folder: Path, commit: str, clones: list[Path], checkout: Path) -> None:
    """Makes `folder` a repository of its own with the clones' objects, and checks `commit` out."""
    # Neither `git submodule`, which writes into the user's configuration, nor `git clone`, which copies a shallow one.
    git(folder, "init", "--quiet", "--template=")
    (folder / ".git" / "objects" / "info").mkdir(parents=True, exist_ok=True)
    alternates = "".join(f"{clone / 'objects'}\n" for clone in clones)
    (folder / ".git" / "objects" / "info" / "alternates").write_text(alternates, encoding="utf-8")
    shallow = [(clone / "shallow").read_text("ascii") for clone in clones if (clone / "shallow").exists()]
    if shallow:
        (folder / ".git" / "shallow").write_text("".join(shallow), encoding="ascii")
    if run_git(folder, "cat-file", "-e", commit + "^{commit}").returncode:
        # The clone of one that head has no more knows its old working tree, and no git command runs without that.
        there = (checkout / ".git").exists()
        where = f"-C {quote(str(checkout))}" if there else f"--git-dir={quote(str(clones[0]))} --work-tree=."
        raise BaseError(
            f"--opcost-base: the base commit has the submodule {checkout} at {commit}, which your clone of it lacks.\n"
            f"Found: {clones[0]}.\nFetch it: git {where} fetch --all"
        )
    answer = run_git(folder, "checkout", "--quiet", "--detach", commit)
    if answer.returncode:
        raise BaseError(f"--opcost-base: the submodule {checkout} could not be checked out: {reason(answer)}.")
