"""Steps that cannot be measured, with torch's own profiler: one clear message each, nothing recorded."""

from __future__ import annotations

import pytest

from .project import INI, told

pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("warm_torch")

_FAST = ("--opcost", "--opcost-steps=3", "--opcost-warmup=1", "--opcost-rounds=1", "--opcost-confirm=0")


def _run(pytester: pytest.Pytester, body: str) -> pytest.RunResult:
    pytester.makeini(INI)
    pytester.makepyfile(test_model=f"import torch\nimport pytest\n\nX = torch.ones(8, 8)\n\n\n{body}")
    return pytester.runpytest_inprocess(*_FAST)


def _refused(pytester: pytest.Pytester, body: str) -> str:
    """The output of a run whose one test failed, pointing at the user's lines alone, and recorded nothing."""
    result = _run(pytester, body)
    result.assert_outcomes(failed=1)
    text = " ".join(told(result).replace(" E ", " ").split())
    for ours in ("api.py", "session.py", "profile.py", "events.py", "INTERNALERROR"):
        assert ours not in text
    assert not (pytester.path / "baselines").exists()
    return text


def test_a_step_that_raises(pytester: pytest.Pytester) -> None:
    text = _refused(pytester, "def test_model(opcost):\n    opcost.check(lambda: X @ torch.ones(3))\n")

    assert "MeasureError: the step raised RuntimeError: size mismatch" in text
    assert "Expected: a step that can be called again and again. Nothing was recorded" in text
    assert "> opcost.check(lambda: X @ torch.ones(3))" in text


def test_a_step_that_raises_later(pytester: pytest.Pytester) -> None:
    body = """
calls = []


def step():
    calls.append(X + X)
    assert len(calls) < 4, "out of data"


def test_model(opcost):
    opcost.check(step)


def test_after(opcost):
    opcost.check(lambda: X + X)
"""
    result = _run(pytester, body)

    result.assert_outcomes(failed=1, passed=1)
    assert "MeasureError: the step raised AssertionError: out of data" in told(result)
    assert [path.name.rpartition("-")[0] for path in (pytester.path / "baselines").rglob("*.yaml")] == [
        "test_model.py-test_after"
    ]


def test_a_step_that_runs_no_operator(pytester: pytest.Pytester) -> None:
    text = _refused(pytester, "def test_model(opcost):\n    opcost.check(lambda: sum(range(10)))\n")

    assert "MeasureError: the step ran no operator, so there is nothing to compare." in text
    assert "Expected: a callable that runs the model" in text


@pytest.mark.parametrize("inner", ["profile(work)", "check(work, name='inner')"])
def test_a_step_that_measures_itself(pytester: pytest.Pytester, inner: str) -> None:
    body = f"""
def work():
    return X + X


def test_model(opcost):
    opcost.check(lambda: opcost.{inner})
"""
    text = _refused(pytester, body)

    assert "MeasureError" in text
    assert "a step that is being measured calls opcost itself. Expected: one measurement at a time" in text


def test_a_profiler_of_the_users_own_around_the_check(pytester: pytest.Pytester) -> None:
    body = """
def test_model(opcost):
    with torch.autograd.profiler.profile(use_kineto=True):
        opcost.check(lambda: X + X)


def test_after(opcost):
    opcost.check(lambda: X + X)
"""
    result = _run(pytester, body)

    result.assert_outcomes(failed=1, passed=1)
    assert "MeasureError: " in told(result)
    assert "another profiler is at work in this process." in told(result)


def test_what_the_check_changes_is_put_back(pytester: pytest.Pytester) -> None:
    body = """
import gc


def test_model(opcost):
    torch.set_num_threads(2)
    seen = []
    opcost.check(lambda: seen.append((X + X, torch.get_num_threads(), gc.isenabled())))
    assert {(threads, collects) for _, threads, collects in seen} == {(1, False)}
    assert torch.get_num_threads() == 2
    assert gc.isenabled()
"""
    _run(pytester, body).assert_outcomes(passed=1)


def test_how_often_the_step_is_called(pytester: pytest.Pytester) -> None:
    body = """
def test_model(opcost):
    calls = []
    profile = opcost.profile(lambda: calls.append(X + X), warmup=2, steps=4)
    assert len(calls) == 1 + 2 + 4 + 3 * 2  # and two for each pass that looks for exact facts
    assert profile.steps == 4
    assert profile.by_name()["aten::add"].calls == 1
    assert profile.cold.ops[0][0] == "aten::add"
    opcost.check(lambda: X + X)
"""
    _run(pytester, body).assert_outcomes(passed=1)
