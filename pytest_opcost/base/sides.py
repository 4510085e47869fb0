"""The other side of a comparison: a commit checked out, another interpreter, or both."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_opcost.base.foreign import copies_error, foreign_error, unbuilt_hint
from pytest_opcost.base.imports import import_paths
from pytest_opcost.base.interpreter import inspect_interpreter
from pytest_opcost.base.worktree import checked_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_opcost.base.interpreter import Interpreter
    from pytest_opcost.base.worktree import BaseTree
    from pytest_opcost.rounds import Round, Side


@dataclass(frozen=True, slots=True)
class Base:
    """What head is judged against; without a `tree` head's own files, without an `interpreter` head's own."""

    tree: BaseTree | None = None
    interpreter: Interpreter | None = None

    @property
    def title(self) -> str:
        """What it is, for people."""
        return self._named("" if self.tree is None else f", {self.tree.subject}")

    @property
    def name(self) -> str:
        """The same without the commit's subject."""
        return self._named("")

    def _named(self, subject: str) -> str:
        parts = []
        if self.tree is not None:
            parts.append(f"{self.tree.ref} ({self.tree.commit[:9]}{subject})")
        if self.interpreter is not None:
            parts.append(f"Python {self.interpreter.python} with torch {self.interpreter.torch}")
        return ", ".join(parts)

    def side(self, head: Side) -> Side:
        """Where a round of the base runs, given where one of head does."""
        side = replace(head, name="base")
        if self.tree is not None:
            paths = import_paths(self.tree.top, self.tree.path)
            side = head.in_tree("base", self.tree.top, self.tree.path, import_paths=paths)
        return side if self.interpreter is None else replace(side, python=self.interpreter.path)

    def hint(self, failure: str) -> str:
        """What else there is to say of a test that passes on head's side and failed on this one; mostly nothing."""
        tree = self.tree
        return "" if tree is None else unbuilt_hint(tree.top, tree.path, tree.commit, failure)

    def refuse(self, found: Round) -> None:
        """Raise BaseError for a round of the base that ran head's code."""
        if self.tree is None:
            return
        if found.foreign:
            raise foreign_error(self.tree.ref, found.foreign)
        if found.copies:
            raise copies_error(self.tree.ref, found.copies)


@contextmanager
def opened(start: Path, ref: str | None, python: Path | None) -> Iterator[Base]:
    """The base that a run asked for, while it lasts. Raises BaseError where it cannot be had."""
    interpreter = None if python is None else inspect_interpreter(python)
    if ref is None:
        yield Base(None, interpreter)
        return
    with checked_out(start, ref) as tree:
        yield Base(tree, interpreter)
