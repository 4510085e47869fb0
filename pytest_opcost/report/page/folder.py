"""A report of many files that is replaced whole or not at all."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.errors import ReportError
from pytest_opcost.report.places import foreign_page
from pytest_opcost.whole_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: In every folder of pages: only what has it is ever removed.
_MARK = "written-by-pytest-opcost"
_NAME = re.compile(r"pages-[0-9a-f]{8}")


def publish(folder: Path, index: Callable[[str], str], others: Mapping[str, bytes], option: str) -> None:
    """Write `others` (contents by their names) to a subfolder of their own, then `index.html`, which switches to them.

    `index` makes that page's text from the subfolder's name, which follows from what is in it. The subfolders of
    earlier reports are removed at the end. Raises ReportError where something cannot be written, or would take the
    place of a page that somebody else made, and names `option` as what chooses another place.
    """
    if why := foreign_page(folder):
        raise ReportError(
            f"the page was not written to {folder}: {why}.\n"
            "Expected: a folder without an index.html, or with one of ours.\n"
            f"Choose another place with {option}."
        )
    name = f"pages-{_digest(others)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / name / _MARK).exists():
            _write_all(folder, name, others)
        replace_file(folder / "index.html", index(name).encode())
    except OSError as error:
        raise ReportError(
            f"the page could not be written to {folder}: {error.strerror or error}.\n"
            "Expected: a folder that may be written, on a disk with room; an older report in it is still whole.\n"
            f"Choose another place with {option}."
        ) from error
    for old in folder.iterdir():
        if old.name != name and _NAME.fullmatch(old.name) and (old / _MARK).exists():
            shutil.rmtree(old, ignore_errors=True)


def _digest(contents: Mapping[str, bytes]) -> str:
    found = hashlib.sha256()
    for name, content in sorted(contents.items()):
        found.update(f"{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()[:8]


def _write_all(folder: Path, name: str, contents: Mapping[str, bytes]) -> None:
    """All files, in a folder that gets its name when it is whole."""
    new = Path(tempfile.mkdtemp(prefix=".pages-", dir=folder))
    try:
        new.chmod(0o755)  # a page is there to be read, and mkdtemp lets nobody else in
        for relative, content in contents.items():
            (new / relative).parent.mkdir(exist_ok=True)
            (new / relative).write_bytes(content)
        (new / _MARK).touch()
        shutil.rmtree(folder / name, ignore_errors=True)  # without its mark: somebody's ruin
        new.rename(folder / name)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
