"""All regressions and all harmless refactorings."""

from __future__ import annotations

from regressions.data import DATA
from regressions.harmless import HARMLESS
from regressions.model import MODEL
from regressions.recipe import RECIPE

REGRESSIONS = (*DATA, *MODEL, *RECIPE)

__all__ = ["HARMLESS", "REGRESSIONS"]
