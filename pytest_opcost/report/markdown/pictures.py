"""The pictures beside a Markdown report, each named after its content: a new report never changes those of an old."""

from __future__ import annotations

import contextlib
import hashlib
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from pytest_opcost.costs import slug
from pytest_opcost.report.gfm import plain
from pytest_opcost.report.saving import as_png
from pytest_opcost.report.whole_files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

_OURS = re.compile(r".+-[0-9a-f]{8}\.png")
_LONGEST_NAME = 80


class Pictures:
    """The pictures of one report, in `folder`; `option` is what chooses another place."""

    def __init__(self, folder: Path, option: str) -> None:
        self._folder, self._option = folder, option
        self._written: set[str] = set()

    def add(self, title: str, figure: Figure) -> list[str]:
        """Write the figure; the Markdown lines that show it, `title` for who cannot see it."""
        png = as_png(figure)
        readable = slug(title.encode("ascii", "ignore").decode())[:_LONGEST_NAME].strip("-.") or "picture"
        name = f"{readable}-{hashlib.sha256(png).hexdigest()[:8]}.png"
        if name not in self._written:
            write_whole(self._folder / name, png, self._option)
            self._written.add(name)
        return [f"![{plain(title)}]({quote(self._folder.name)}/{name})", ""]

    def forget_older(self) -> None:
        """Remove the pictures of older reports; one that cannot be removed does no harm."""
        for path in self._folder.glob("*.png"):
            if path.name not in self._written and _OURS.fullmatch(path.name):
                with contextlib.suppress(OSError):
                    path.unlink()
