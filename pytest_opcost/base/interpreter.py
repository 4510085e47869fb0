"""Another Python interpreter, asked once whether it can run the tests: what it is, and what it lacks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from pytest_opcost.errors import BaseError

_TIMEOUT_S = 60.0  # a cold start from a network disk
_MARK = "pytest-opcost:"
_OLDEST_PYTHON = (3, 10)

#: What the plugin cannot measure without: distribution, its module, and the oldest version, as in pyproject.toml.
_NEEDED = {
    "torch": ("torch", (2, 4)),
    "pytest": ("pytest", (8,)),
    "pyyaml": ("yaml", (6,)),
    "numpy": ("numpy", (1, 24)),
    "tabulate": ("tabulate", (0, 9)),
}
#: What only some tests ask for: those with the MNIST fixtures.
_WANTED = {"torchvision": "torchvision"}

# Written for any Python, so that an old one can say how old it is. The current folder is taken out of sys.path: what
# lies there is not installed. `-I` would take it out too, but also PYTHONPATH and the user's site-packages.
_QUESTION = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
answer = {"python": ".".join(map(str, sys.version_info[:3])), "found": {}}
import json
if sys.version_info >= (3, 8):
    import importlib.metadata, importlib.util
    for name, module in json.loads(sys.argv[1]).items():
        if importlib.util.find_spec(module) is not None:
            try:
                answer["found"][name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                answer["found"][name] = "unknown"
sys.stdout.write("\\n" + sys.argv[2] + json.dumps(answer) + "\\n")
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that can run the tests, with its version and torch's ("unknown" for one that was not installed).

    `missing` are the distributions that are not there and that only some tests need.
    """

    path: Path
    python: str
    torch: str
    missing: tuple[str, ...]


def inspect_interpreter(path: Path) -> Interpreter:
    """The interpreter `path`, a file or a command on the PATH, with the path absolute. Nothing is imported in it.

    Raises BaseError where there is none, where it is too old, and where it lacks what the plugin needs, or has it in a
    version that is too old, with the command that installs it. The plugin itself need not be installed there.
    """
    executable = _executable(path)
    answer = _ask(executable, path)
    python, found = answer["python"], answer["found"]
    if _version(python) < _OLDEST_PYTHON:
        raise _error(path, f"is Python {python}", f"Expected: Python {_text(_OLDEST_PYTHON)} or newer.")
    lacks = [
        (f"{name} {found[name]}" if name in found else f"no {name}", f'"{name}>={_text(oldest)}"')
        for name, (_, oldest) in _NEEDED.items()
        if name not in found or (found[name] != "unknown" and _version(found[name]) < oldest)
    ]
    if lacks:
        raise _error(
            path,
            f"(Python {python}) lacks what the tests are measured with",
            "Found: " + ", ".join(what for what, _ in lacks) + ".",
            f"Run: {quote(str(executable))} -m pip install {' '.join(wanted for _, wanted in lacks)}",
        )
    return Interpreter(executable, python, found["torch"], tuple(name for name in _WANTED if name not in found))


def _executable(path: Path) -> Path:
    """`path` as an absolute one. Links are kept: through them an interpreter finds its virtual environment."""
    expanded = path.expanduser()
    if len(expanded.parts) == 1 and not expanded.exists() and (command := shutil.which(str(expanded))):
        return Path(os.path.abspath(command))
    executable = Path(os.path.abspath(expanded))
    if executable.is_dir():
        inside = [place for place in ("bin/python", "Scripts/python.exe") if (executable / place).exists()]
        mend = f"Give the interpreter: --opcost-base-python={quote(str(path / inside[0]))}" if inside else ""
        raise _error(path, "is a folder", "Expected: a Python interpreter.", mend)
    if not executable.exists():
        raise _error(
            path,
            "does not exist",
            "Expected: a Python interpreter with torch.",
            "Make one: python -m venv FOLDER && FOLDER/bin/python -m pip install torch numpy pytest pytest-opcost",
        )
    if not os.access(executable, os.X_OK):
        raise _error(
            path, "is not executable", "Expected: a Python interpreter.", f"Run: chmod +x {quote(str(executable))}"
        )
    return executable


def _ask(executable: Path, path: Path) -> dict[str, Any]:
    # An interpreter's own settings in the environment are not for another one.
    own = ("PYTHONHOME", "PYTHONINSPECT", "__PYVENV_LAUNCHER__")
    environment = {name: value for name, value in os.environ.items() if name not in own}
    names = {name: module for name, (module, _) in _NEEDED.items()} | _WANTED
    try:
        process = subprocess.run(
            [str(executable), "-c", _QUESTION, json.dumps(names), _MARK],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _error(path, f"did not answer within {_TIMEOUT_S:.0f} s", "Expected: a Python interpreter.") from None
    except OSError as error:
        raise _error(path, f"cannot be run: {error.strerror}", "Expected: a Python interpreter.") from error
    # A sitecustomize may print as well.
    answers = [line for line in process.stdout.splitlines() if line.startswith(_MARK)]
    if not answers:
        said = [line for line in (process.stderr or process.stdout).splitlines() if line.strip()]
        found = (
            f'it ended with status {process.returncode} and said "{said[-1].strip()}"' if said else "it said nothing"
        )
        raise _error(path, f"is not a Python interpreter that runs: {found}", "Expected: a Python interpreter.")
    answer: dict[str, Any] = json.loads(answers[-1].removeprefix(_MARK))
    return answer


def _error(path: Path, found: str, *lines: str) -> BaseError:
    return BaseError("\n".join([f"--opcost-base-python={path} {found}.", *filter(None, lines)]))


def _version(text: str) -> tuple[int, ...]:
    """The leading numbers of a version: 2.11.0+cu128 -> (2, 11, 0)."""
    return tuple(map(int, re.findall(r"\d+", re.split(r"[^\d.]", text)[0])))


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
