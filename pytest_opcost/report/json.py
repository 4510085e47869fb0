"""Everything that was measured and judged, as one JSON file for programs; its shape is documented in the README."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_opcost.costs import Environment
    from pytest_opcost.results import CheckResult

SCHEMA = 1


def write_json(path: Path, environments: Sequence[Environment], results: Sequence[CheckResult]) -> None:
    """Write the results of a run; raises OSError where the file cannot be written."""
    known = [*(result.profile.environment for result in results), *environments]
    document = {
        "schema": SCHEMA,
        "environment": _environment(known[0]) if known else {},
        "tests": [_test(result) for result in results],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    # NaN is no JSON: whoever reads the file must be able to rely on that.
    path.write_text(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n", encoding="utf-8")


def _environment(environment: Environment) -> dict[str, Any]:
    return {
        "machine": environment.machine_key,
        "device": environment.device,
        "device_name": environment.device_name,
        "capability": environment.capability,
        "torch": environment.torch,
        "threads": environment.threads,
        "allocator": environment.allocator,
        "settings": dict(environment.settings),
        "details": dict(environment.details),
    }


def _test(result: CheckResult) -> dict[str, Any]:
    data = result.to_data()
    del data["text"]
    for op in data["ops"]:
        op["samples"] = list(op["samples"])
    for cause in data["causes"]:
        cause["explains"] = list(cause["explains"])
    return data | {"environment": _environment(result.profile.environment)}
