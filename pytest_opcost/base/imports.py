"""Letting the base's process import the base's code, although the user's installation leads to head's."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def import_paths(top: Path, tree: Path) -> tuple[str, ...]:
    """What must come first in `sys.path` of a process that tests `tree`, another commit of the repository at `top`.

    That is the counterpart, where there is one, of each entry of this process's `sys.path` in the repository: rootdir,
    PYTHONPATH, and `.pth` lines of an editable install; and of each folder whose packages are imported from the
    repository by setuptools' other way, a finder with a mapping. In their order, each once.
    """
    entries = [Path(entry or ".") for entry in sys.path]
    paths = (counterpart(entry, top, tree) for entry in (*entries, *_mapped_roots()) if in_tree(entry, top))
    return tuple(dict.fromkeys(str(path) for path in paths if path.exists()))


def counterpart(path: Path, top: Path, tree: Path) -> Path:
    """Where `path`, if it lies in the repository at `top`, lies in `tree`, there or not; else `path` itself, absolute.

    For the root folder, the configuration file and the folder that pytest was called in.
    """
    spelled, real = Path(os.path.abspath(path)), path.resolve()
    # As it is spelled first: a link in the repository is a link in the tree too.
    for place in (spelled, real):
        if place.is_relative_to(top):
            return tree / place.relative_to(top)
    return spelled


def in_tree(path: Path, top: Path) -> bool:
    """Whether `path` belongs to the code of the repository at `top`: in it, links resolved, and not installed there.

    Installed is what lies in a folder of installed packages, or in the running interpreter's own folders, where these
    are in the repository (.venv). The other way round, a repository in /usr/src under Python's prefix /usr, is code.
    """
    place = path.resolve()
    if not place.is_relative_to(top) or is_installed(place.relative_to(top)):
        return False
    own = [sys.prefix, sys.exec_prefix, sys.base_prefix, os.path.dirname(os.__file__)]
    folders = (Path(folder).resolve() for folder in own)
    return not any(place.is_relative_to(folder) for folder in folders if top in folder.parents)


def is_installed(path: Path) -> bool:
    """Whether `path` lies in a folder that packages are installed to, of whichever interpreter."""
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts)


def _mapped_roots() -> Iterator[Path]:
    """The folders that would have to be in `sys.path` if setuptools' editable finders were not there."""
    finders = (module for name, module in list(sys.modules.items()) if name.startswith("__editable__"))
    for finder in finders:
        for name, place in getattr(finder, "MAPPING", {}).items():
            parts, path = name.split("."), Path(place)
            # A package that is called otherwise than its folder cannot be found through `sys.path`.
            if [*path.parts[-len(parts) : -1], path.stem] == parts:
                yield path.parents[len(parts) - 1]
