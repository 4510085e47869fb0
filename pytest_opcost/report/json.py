"""Everything that was measured and judged, as one JSON file for programs; `contract` says what it holds, and `saved`
reads it back.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_opcost.contract import SCHEMA
from pytest_opcost.plain import environment_document, training_data
from pytest_opcost.whole_files import replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_opcost.results import CheckResult, RunResults
    from pytest_opcost.training import Training


def write_json(path: Path, run: RunResults) -> None:
    """Write the results of a run, whole or not at all; raises OSError where the file cannot be written."""
    # Half a surrogate pair, which a test's name may hold, becomes what it is in JSON too: \udc80.
    replace_file(path, json_text(run).encode("utf-8", "backslashreplace"))


def json_text(run: RunResults, *, ascii_only: bool = False) -> str:
    """The results of a run as the file holds them, or as any terminal can print them; raises ValueError for NaN."""
    known = [*(result.profile.environment for result in run.checks), *run.environments]
    document = {
        "schema": SCHEMA,
        "started": run.started,
        "environment": environment_document(known[0]) if known else {},
        "environments": [environment_document(one) for one in run.environments],
        "tests": [_test(result) for result in run.checks],
        "trainings": [_training(training) for training in run.trainings],
    }
    # NaN is no JSON: whoever reads the file must be able to rely on that.
    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=ascii_only) + "\n"


def _test(result: CheckResult) -> dict[str, Any]:
    data = result.to_data()
    del data["text"], data["timeline"]  # the page's traces have it
    for op in data["ops"]:
        op["samples"] = list(op["samples"])
    for cause in data["causes"]:
        cause["explains"] = list(cause["explains"])
    return data | {"environment": environment_document(result.profile.environment)}


def _training(training: Training) -> dict[str, Any]:
    data = training_data(training)
    for _, profile in data["costs"]:
        del profile["environment"], profile["timeline"]  # the training's own; the page's traces have it
    return data | {
        "environment": environment_document(training.environment),
        "hyperparameters": dict(training.hyperparameters),
    }
