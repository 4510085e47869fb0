"""The example of a user's own model runs as it stands, and is the one in the README."""

from __future__ import annotations

from pathlib import Path

import pytest

from .project import told

_ROOT = Path(__file__).parents[2]
_EXAMPLE = _ROOT / "examples" / "test_own_model.py"
_QUICK = ("--opcost-steps=3", "--opcost-warmup=1", "--opcost-rounds=1", "--opcost-batch-size=2,8")


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


def test_the_example_is_short() -> None:
    assert len(_EXAMPLE.read_text("utf-8").splitlines()) < 20


def test_the_readme_shows_it() -> None:
    readme = (_ROOT / "README.md").read_text("utf-8")
    _, _, code = _EXAMPLE.read_text("utf-8").partition("\n\n")

    assert f"```python\n{code}```" in readme
