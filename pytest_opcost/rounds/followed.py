"""How far the process of a round is, read from what it has sent home so far."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Followed:
    """`finished` tests of the round have ended, `running` runs: as of the last `look`."""

    def __init__(self, path: Path) -> None:
        self._path, self._offset = path, 0
        self.finished, self.running = 0, ""

    def look(self) -> None:
        """Read what came since the last time; of a line that is not whole yet nothing is taken."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                *lines, rest = file.read().split(b"\n")
                self._offset = file.tell() - len(rest)
        except FileNotFoundError:
            return
        for line in lines:
            # What was measured is long, and of no interest here: it is not read.
            if line.startswith(b'{"kind": "started"'):
                self.running = json.loads(line)["test"]
            elif line.startswith(b'{"kind": "finished"'):
                self.finished += 1
