"""What a run can say of stored baselines whose test it did not see: which are stale, and why others are left alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_opcost import storage
from pytest_opcost.options import paths_below
from pytest_opcost.stale import count_gone, left_alone_text, not_listed_text, stale_baselines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

    from pytest_opcost.collected import Collected
    from pytest_opcost.options import Options


@dataclass(frozen=True, slots=True)
class Leftover:
    """Baselines whose test no longer exists, and what is to be said of others; empty for nothing."""

    stale: Sequence[Path] = ()
    left_alone: str = ""


def leftover(session: pytest.Session, options: Options, collected: Collected, *, broken: bool) -> Leftover:
    """What is left over by this run; `broken` says whether something could not be collected."""
    config = session.config
    # --lf leaves files and tests out already when it collects, and so does an error of collecting.
    last_failed = bool(config.getoption("lf", False))
    stored = dict(storage.stored_tests(options.baselines))
    whole = () if broken or last_failed else paths_below(config.args, config.invocation_params.dir)
    stale, unknown = stale_baselines(stored, config.rootpath, collected.tests, whole)
    if session.testsfailed and not collected.tests:
        stale, unknown = [], [*stale, *unknown]  # collecting failed: nothing is known about what exists
    if options.prune:
        distributed = config.pluginmanager.has_plugin("dsession")
        told = left_alone_text(len(unknown), distributed=distributed, broken=broken, last_failed=last_failed)
    elif unknown and collected.known and not last_failed:
        told = not_listed_text(count_gone([stored[path] for path in unknown], collected.known), broken=broken)
    else:
        told = ""
    return Leftover(stale, told)
