"""The file that --opcost-json wrote -> the results of that run; see `contract` for what the file holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_opcost.contract import RUN, SCHEMA
from pytest_opcost.errors import ResultsError
from pytest_opcost.plain import environment_from, training_from
from pytest_opcost.results import CheckResult, RunResults
from pytest_opcost.shapes import ShapeError

if TYPE_CHECKING:
    from pathlib import Path

_CURVES = (("steps", "losses", "accuracies"), ("test_losses", "test_accuracies", "epoch_seconds"))


def load(path: Path) -> RunResults:
    """The results in a file, without timelines, images and the text of baselines.

    Raises ResultsError, naming file, field and mend, for whatever is wrong with it.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _damaged(path, f"is no UTF-8 text (byte {error.start}).") from None
    except OSError as error:
        raise _damaged(path, f"cannot be read: {error.strerror or error}.") from None
    return load_text(text, path)


def load_text(text: str, path: Path) -> RunResults:
    """The results in the text of a file at `path`; raises ResultsError as `load` does."""
    try:
        document = json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        why = "is empty." if not text.strip() else f"is no valid JSON, line {error.lineno}: {error.msg}."
        raise _damaged(path, why) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, lists within lists without end
        raise _damaged(path, f"is no valid JSON: {str(error).partition(';')[0]}.") from None
    if not isinstance(document, dict) or "tests" not in document:
        raise _foreign(path, document)
    if document.get("schema") != SCHEMA:
        wanted = f"Expected: {SCHEMA}, the schema of this version of pytest-opcost"
        raise _damaged(path, f"schema: found {str(document.get('schema'))[:40]}.\n{wanted}.")
    try:
        return _results(RUN(document, ""))
    except ShapeError as error:
        raise _damaged(path, str(error)) from None


def _results(data: dict[str, Any]) -> RunResults:
    for index, test in enumerate(data["tests"]):
        _consistent(test, f"tests[{index}]")
    for index, training in enumerate(data["trainings"]):
        _same_lengths(training, f"trainings[{index}]")
    return RunResults(
        environments=[environment_from(_environment(one)) for one in data["environments"]],
        checks=[CheckResult.from_data(_test(one)) for one in data["tests"]],
        trainings=[training_from(_training(one)) for one in data["trainings"]],
        started=data["started"],
    )


def _test(data: dict[str, Any]) -> dict[str, Any]:
    """A test as `CheckResult.from_data` takes it."""
    return data | {"environment": _environment(data["environment"]), "timeline": [], "text": None}


def _training(data: dict[str, Any]) -> dict[str, Any]:
    """A training as `training_from` takes it: its profiles were measured where it was."""
    environment = _environment(data["environment"])
    costs = [[when, profile | {"environment": environment, "timeline": []}] for when, profile in data["costs"]]
    return data | {
        "environment": environment,
        "hyperparameters": list(data["hyperparameters"].items()),
        "costs": costs,
    }


def _environment(data: dict[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in data.items() if name != "machine"}
    return known | {name: list(data[name].items()) for name in ("settings", "details")}


def _consistent(test: dict[str, Any], where: str) -> None:
    """Operators stand once each, and data flows between calls that there are. Raises ShapeError."""
    names: set[str] = set()
    for index, op in enumerate(test["ops"]):
        if op["name"] in names:
            raise ShapeError(f"{where}.ops[{index}].name", f"{op['name']}, a second time", "every operator once")
        names.add(op["name"])
    flow = test["flow"] or {"nodes": (), "edges": ()}
    for index, edge in enumerate(flow["edges"]):
        if max(edge) >= len(flow["nodes"]):
            raise ShapeError(f"{where}.flow.edges[{index}]", f"{edge}", f"indices below {len(flow['nodes'])}")


def _same_lengths(training: dict[str, Any], where: str) -> None:
    for curves in _CURVES:
        for name in curves[1:]:
            if (found := len(training[name])) != (wanted := len(training[curves[0]])):
                raise ShapeError(f"{where}.{name}", f"{found} values", f"{wanted}, as many as {curves[0]}")
    if not training["steps"]:
        raise ShapeError(f"{where}.steps", "an empty list", "one reading or more")


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _foreign(path: Path, document: object) -> ResultsError:
    """The error for JSON that is no file of ours, and must not be written over."""
    trace = isinstance(document, list) or (isinstance(document, dict) and "traceEvents" in document)
    found = "is a trace of a profiler" if trace else "holds no results of pytest-opcost: it is JSON without tests"
    mend = f"It becomes one: opcost import {path}" if trace else "Write one: pytest --opcost --opcost-json=results.json"
    return ResultsError(f"{path}: {found}.\nExpected: a file written by --opcost-json.\n{mend}")


def _damaged(path: Path, found: str) -> ResultsError:
    expected = "" if "\nExpected: " in found else "\nExpected: a file written by --opcost-json."
    file = "results.json" if path.is_dir() else path
    return ResultsError(f"{path}: {found}{expected}\nWrite it anew: pytest --opcost --opcost-json={file}")
