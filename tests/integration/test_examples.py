"""The examples run as they stand and find the same facts in every process; the README shows the first of them."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from .project import INI, told

_ROOT = Path(__file__).parents[2]
_EXAMPLES = _ROOT / "examples"
_EXAMPLE = _EXAMPLES / "test_own_model.py"
_QUICK = ("--opcost-steps=3", "--opcost-warmup=1", "--opcost-rounds=1", "--opcost-batch-size=2,8")
#: Nothing is judged by its time: no fresh process is asked, no drift fails.
_EXACT = ("--opcost-rounds=0", "--opcost-confirm=0", "--opcost-on-drift=report", "--opcost-mnist=sample")


@pytest.mark.usefixtures("warm_torch")
def test_the_example_is_recorded_and_then_compared(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_own_model=_EXAMPLE.read_text("utf-8"))

    pytester.runpytest_inprocess().assert_outcomes(skipped=3)
    first = pytester.runpytest_inprocess("--opcost", *_QUICK)
    first.assert_outcomes(passed=2)
    assert "opcost: 2 recorded" in told(first)
    second = pytester.runpytest_inprocess("--opcost", *_QUICK, "--opcost-tolerance=1000")

    second.assert_outcomes(passed=2)
    assert "recorded test_own_model.py" not in told(second)
    assert "test_own_model.py::test_my_model[cpu-2]" in told(second)


@pytest.mark.parametrize(
    ("example", "checks"),
    [("test_convolutions.py", 3 + 2 * 2), ("test_keras.py", 2 * 2), ("test_phases.py", 1)],
)
def test_two_fresh_processes_find_the_same_facts(pytester: pytest.Pytester, example: str, checks: int) -> None:
    # Found, not imported: Keras would look for TensorFlow here.
    for needed in ("torch", "torchvision", *(["keras"] if "keras" in example else [])):
        if find_spec(needed) is None:
            pytest.skip(f"needs {needed}")
    shutil.copytree(_EXAMPLES, pytester.path, dirs_exist_ok=True)
    # What an example sets for itself is gone at the end.
    pytester.makeconftest(
        "import os\n\n\ndef pytest_sessionfinish():\n    assert not {'KERAS_BACKEND', 'KERAS_HOME'} & {*os.environ}\n"
    )
    pytester.makefile(".ini", pytest=INI)

    recorded, compared = (_results(pytester, example) for _ in range(2))

    assert len(recorded) == checks
    assert {one["verdict"] for one in recorded} == {"recorded"}
    assert "recorded" not in {one["verdict"] for one in compared}
    assert _facts(recorded) == _facts(compared)
    assert not (pytester.path / ".keras").exists()


def _results(pytester: pytest.Pytester, example: str) -> list[dict[str, Any]]:
    """What the checks of one example found, in a process of their own."""
    done = pytester.runpytest_subprocess("--opcost", *_QUICK, *_EXACT, "--opcost-json=results.json", example)
    outcomes = done.parseoutcomes()
    assert done.ret == pytest.ExitCode.OK
    assert outcomes.keys() <= {"passed", "skipped"}
    found: list[dict[str, Any]] = json.loads((pytester.path / "results.json").read_text("utf-8"))["tests"]
    return found


def _facts(results: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, tuple[object, ...]]]:
    """What is exact about each operator of each check."""
    return {
        (one["test"], one["check"]): {op["name"]: (op["calls"], op["varying"], op["facts"]) for op in one["ops"]}
        for one in results
    }


@pytest.mark.usefixtures("warm_torch")
@pytest.mark.parametrize(
    ("keras", "reason"),
    [
        ("None", "needs Keras 3: pip install keras"),
        ("SimpleNamespace(backend=SimpleNamespace(backend=lambda: 'jax'))", "Keras was loaded before, on jax"),
    ],
)
def test_without_keras_on_torch_its_example_is_skipped(pytester: pytest.Pytester, keras: str, reason: str) -> None:
    shutil.copy(_EXAMPLES / "test_keras.py", pytester.path)
    pytester.makeconftest(f"import sys\nfrom types import SimpleNamespace\n\nsys.modules['keras'] = {keras}\n")

    result = pytester.runpytest_inprocess("--opcost", "-rs")

    result.assert_outcomes(skipped=4)
    assert reason in told(result)


def test_lenet_takes_nine_lines_of_keras() -> None:
    code = (_EXAMPLES / "test_keras.py").read_text("utf-8")
    assert sum(line.startswith(("    model = keras.", "    model.add(")) for line in code.splitlines()) == 9


def test_the_example_is_short() -> None:
    assert len(_EXAMPLE.read_text("utf-8").splitlines()) < 20


def test_the_readme_shows_it() -> None:
    readme = (_ROOT / "README.md").read_text("utf-8")
    _, _, code = _EXAMPLE.read_text("utf-8").partition("\n\n")

    assert f"```python\n{code}```" in readme
