"""Paths as they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def told(path: Path, root: Path) -> Path:
    """The path relative to `root` where it lies below, else as it is."""
    return path.relative_to(root) if path.is_relative_to(root) else path
