"""The lines below pytest's own header: what is measured on, and what is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost import paths
from pytest_opcost.options import Options, Update
from pytest_opcost.report.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_opcost.costs import Environment

_MODES = {
    Update.NONE: "compare",
    Update.ROUNDS: "compare, and add rounds to what holds",
    Update.MISSING: "compare, and record what is missing",
    Update.ALL: "record every measured test anew",
}


def header_lines(options: Options, environments: Sequence[Environment], root: Path) -> list[str]:
    """The lines below pytest's own header: what is measured on, and what is compared with."""
    if not options.enabled:
        return []
    base = _base(options)
    lines = [base or f"opcost: {_MODES[options.update]}; without a baseline: {options.missing.value}"]
    for environment in environments:
        threads = f"{environment.threads} thread{'s' if environment.threads > 1 else ''}"
        lines.append(
            f"opcost: {environment.device}: {environment.device_name} ({environment.capability}), torch "
            f"{environment.torch}, {threads}, {environment.allocator} allocator"
        )
        lines.append(f"opcost: machine {environment.machine_key}")
    lines += [] if base else [f"opcost: baselines {paths.told(options.baselines, root)}"]
    return [part for line in lines for part in wrapped(line, "        ")]


def _base(options: Options) -> str:
    """What is compared with instead of baselines; empty where nothing is."""
    names = [*([options.base] if options.base else []), *([str(options.base_python)] if options.base_python else [])]
    if not names:
        return ""
    # A log has no progress line: nothing else is told until then, for minutes where tests are many.
    pairs = f"{options.rounds} pairs of processes, all before the first test's verdict"
    return f"opcost: compare with {', run by '.join(names)}, measured beside it in {pairs}"
