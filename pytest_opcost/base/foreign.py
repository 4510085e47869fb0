"""Proof that a process tested the code of its own tree: otherwise head would be compared with itself."""

from __future__ import annotations

import re
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.base.git import run_git
from pytest_opcost.base.imports import counterpart, in_tree, is_installed
from pytest_opcost.errors import BaseError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


def foreign_modules(top: Path, allowed: Collection[Path]) -> list[str]:
    """The modules of this process that come from the repository at `top`, each with its file, sorted.

    To be asked after the tests, in a process that tests another tree. What is installed in the repository (.venv) is
    not meant, nor what lies in the folders `allowed`: the plugin's own, since both sides must be measured with the
    same instrument.
    """
    foreign = ((name, file) for name, file in _files() if in_tree(file, top) and not _is_below(file, allowed))
    return sorted(f"{name} ({file}{_compiled(file)})" for name, file in foreign)


def installed_copies(tree: Path, allowed: Collection[Path]) -> list[str]:
    """The packages of this process that are installed copies although `tree` has them too, each with its file, sorted.

    So it is after `pip install .` without --editable (tox's default): both sides would test that one copy. `tree` is
    searched at its top and in `src`; `allowed` is as for `foreign_modules`.
    """
    roots = (tree, tree / "src")
    copies = (
        (name, file)
        for name, file in _files()
        if "." not in name
        and not _is_below(file, allowed)
        and is_installed(file)
        and any((root / name / "__init__.py").is_file() or (root / f"{name}.py").is_file() for root in roots)
    )
    return sorted(f"{name} ({file})" for name, file in copies)


def unbuilt_modules(top: Path, tree: Path) -> list[str]:
    """The modules that this process, head's, has from files made by a build and that `tree` lacks, sorted.

    That is what is compiled or ignored by git: extensions, a generated `_version.py`.
    """
    files = {str(file): name for name, file in _files() if in_tree(file, top)}
    lacking = [file for file in files if not counterpart(Path(file), top, tree).exists()]
    ignored = run_git(top, "check-ignore", "--", *lacking).stdout.splitlines() if lacking else []
    return sorted(
        f"{files[file]} ({file}{_compiled(Path(file))})" for file in lacking if file in ignored or _compiled(Path(file))
    )


def unbuilt_hint(top: Path, tree: Path, commit: str, failure: str) -> str:
    """What to tell of a test that failed in `tree`, checked out of the repository at `top`, for lack of a build.

    Empty unless the failure names one of `unbuilt_modules`. To be asked in head's process, once the test ran there.
    """
    lacking = [one for one in unbuilt_modules(top, tree) if re.search(rf"\b{re.escape(_last_name(one))}\b", failure)]
    if not lacking:
        return ""
    listed = "".join(f"\n- {module}" for module in lacking)
    return (
        f"\nA build made this in your tree, and git does not have it, so the base's checkout lacks it:{listed}\n"
        "Record that commit in a tree that is built, and compare with this instead of --opcost-base:\n"
        f"git worktree add ../base {commit[:12]}; build it there; "
        "pytest --opcost-update-baselines --opcost-baselines=FOLDER\n"
        "Here: pytest --opcost --opcost-baselines=FOLDER"
    )


def _last_name(told: str) -> str:
    """`native` of `pkg.native (/src/pkg/native.so)`."""
    return told.split(" ")[0].rpartition(".")[2]


def foreign_error(ref: str, foreign: Sequence[str]) -> BaseError:
    """What to tell the user of `foreign_modules` that the process of the base commit `ref` had."""
    return _wrong_code(
        ref,
        "its process imported code of your working tree, so head would be compared with itself",
        foreign,
        "Expected: modules of the base commit's own files.\n"
        "Where the package is at another place in that commit, or an import hook leads to your working tree, say where "
        "it is on both sides: PYTHONPATH=FOLDER pytest ... (a compiled extension must be built in both).",
    )


def copies_error(ref: str, copies: Sequence[str]) -> BaseError:
    """What to tell the user of `installed_copies`."""
    return _wrong_code(
        ref,
        "the code under test is an installed copy, which both sides would import",
        copies,
        "Expected: modules of the repository's own files.\n"
        "Run: pip install --editable . (with tox: package = editable)",
    )


def _wrong_code(ref: str, found: str, modules: Sequence[str], mend: str) -> BaseError:
    listed = "".join(f"  - {module}\n" for module in modules)
    return BaseError(f"--opcost-base={ref}: {found}:\n{listed}{mend}")


def _files() -> Iterator[tuple[str, Path]]:
    """Each loaded module that has a file, with that, links resolved."""
    for name, module in list(sys.modules.items()):
        # Not getattr: a lazy module may answer with an import.
        file = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(file, str):
            yield name, Path(file).resolve()


def _is_below(file: Path, folders: Collection[Path]) -> bool:
    return any(file.is_relative_to(folder.resolve()) for folder in folders)


def _compiled(file: Path) -> str:
    built = file.name.endswith(tuple(EXTENSION_SUFFIXES))
    return ": a compiled extension, which the base's tree has not built" if built else ""
