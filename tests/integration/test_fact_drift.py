"""What is exact about an operator fails by itself when it changes, and is told with both values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .fake_seam import LENET
from .project import failure, told

if TYPE_CHECKING:
    from .project import Project

_ADDMM: dict[str, Any] = {
    "inputs": {"f32[128] f32[16,9216] f32[9216,128]": 1, "f32[10] f32[16,128] f32[128,10]": 1},
    "flops": 37_789_696,
    "kernels": {"mkl sgemm": 2},
    "syncs": 1,
    "alloc_bytes": 8832,
    "places": [["forward", "fc1", "model.py:3"]],
}
_OTHERS: dict[str, Any] = {
    "inputs": {"f32[256] f32[16,9216] f32[9216,256]": 1, "f32[10] f32[16,128] f32[128,10]": 1},
    "flops": 75_579_392,
    "kernels": {"mkl sgemm": 1, "mkl sgemv": 1},
    "syncs": 3,
    "alloc_bytes": 17_664,
}
_WORDS = {
    "inputs": "takes f32[256] f32[16,9216] f32[9216,256] (was f32[128] f32[16,9216] f32[9216,128])",
    "flops": "computes 75.58 MFLOP a step (was 37.79 MFLOP)",
    "kernels": "runs mkl sgemv (was mkl sgemm)",
    "syncs": "waits for the device 3 times a step (was 1)",
    "alloc_bytes": "allocates 17.66 kB a step (was 8.832 kB)",
}


#: What is told of an operator that does other work, beside it, where the time is known of both sides.
_TIME = "; time 1,000 us -> 1,000 us a step (+0.0 %)"
_OTHER_WORK = ("inputs", "flops", "kernels")


def _addmm(
    project: Project, machine: dict[str, str] | None = None, ops: dict[str, Any] | None = None, **facts: Any
) -> None:
    """From now on a step has these facts of its addmm."""
    project.costs(ops, facts={"aten::addmm": {**_ADDMM, **facts}}, **(machine or {}))


def _bullets(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("fact", _WORDS)
def test_a_changed_fact_fails_and_is_told_with_both_values(project: Project, fact: str) -> None:
    _addmm(project)
    project.record()
    _addmm(project, **{fact: _OTHERS[fact]})

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    time = _TIME if fact in _OTHER_WORK else ""
    assert _bullets(failure(result)) == [f"- aten::addmm (addmm) {_WORDS[fact]}{time}"]
    assert "measured 2 times" in failure(result)


def test_unchanged_facts_pass_and_can_be_accepted_when_they_changed(project: Project) -> None:
    _addmm(project)
    project.record()
    assert "1 passed" in told(project.run("--opcost"))
    _addmm(project, **_OTHERS)
    project.run("--opcost").assert_outcomes(failed=1)

    (text,) = project.record().values()

    assert "flops: 75579392" in text
    project.run("--opcost").assert_outcomes(passed=1)


def test_all_that_changed_with_the_inputs_is_one_finding(project: Project) -> None:
    _addmm(project)
    project.record()
    _addmm(project, **_OTHERS)

    expected = f"- aten::addmm (addmm) {_WORDS['inputs']}; 75.58 MFLOP a step (was 37.79 MFLOP){_TIME}"
    assert _bullets(failure(project.run("--opcost"))) == [expected]


@pytest.mark.parametrize("fact", _WORDS)
@pytest.mark.parametrize("side", ["recorded", "measured"])
def test_a_fact_that_varies_does_not_fail(project: Project, fact: str, side: str) -> None:
    _addmm(project, varying=[fact] if side == "recorded" else [])
    project.record()
    _addmm(project, varying=[fact] if side == "measured" else [], **{fact: _OTHERS[fact]})

    project.run("--opcost").assert_outcomes(passed=1)


def test_a_fact_that_varies_between_rounds_does_not_fail_either(project: Project) -> None:
    project.write(
        "test_model.py",
        f"""
import itertools

SYNCS = itertools.cycle([1, 2])


def test_model(opcost):
    opcost.check(lambda: {{"ops": {LENET!r}, "facts": {{"aten::addmm": {{"syncs": next(SYNCS)}}}}}})
""",
    )
    (text,) = project.record().values()
    assert "varying: [syncs]" in text

    project.run("--opcost").assert_outcomes(passed=1)


def test_a_fact_that_changed_once_is_no_drift(project: Project) -> None:
    _addmm(project)
    project.record()
    project.write(
        "test_model.py",
        f"""
steps = iter([3, 1, 1, 1, 1])


def test_model(opcost):
    opcost.check(lambda: {{"ops": {LENET!r}, "facts": {{"aten::addmm": {{**{_ADDMM!r}, "syncs": next(steps)}}}}}})
""",
    )

    project.run("--opcost").assert_outcomes(passed=1)


@pytest.mark.parametrize("changed", ["inputs", "alloc_bytes"])
def test_other_work_is_not_compared_by_time(project: Project, changed: str) -> None:
    _addmm(project)
    project.record()
    _addmm(project, ops={**LENET, "aten::addmm": [300.0, 2]}, **{changed: _OTHERS[changed]})

    dearer = [line for line in _bullets(failure(project.run("--opcost"))) if line.startswith("- aten::addmm (addmm): ")]

    assert len(dearer) == (1 if changed == "alloc_bytes" else 0)


def test_what_other_work_took_then_and_now_is_told_beside_it(project: Project) -> None:
    _addmm(project)
    project.record()
    _addmm(project, ops={**LENET, "aten::addmm": [1600.0, 2]}, kernels=_OTHERS["kernels"])

    text = failure(project.run("--opcost"))

    assert _bullets(text) == [f"- aten::addmm (addmm) {_WORDS['kernels']}; time 1,000 us -> 1,600 us a step (+60 %)"]
    assert text.startswith("pytest_opcost.DriftError: aten::addmm runs mkl sgemv (was mkl sgemm): test_model.py::")


@pytest.mark.parametrize("capability", ["x86_64 AVX512", "x86_64 AVX2"], ids=["same", "other"])
@pytest.mark.parametrize("fact", _WORDS)
def test_what_is_compared_with_another_machines_baseline(project: Project, fact: str, capability: str) -> None:
    compared = fact in ("inputs", "flops", "syncs") or (fact == "kernels" and capability == "x86_64 AVX512")
    _addmm(project)
    project.record()
    _addmm(project, {"machine": "Chip B", "capability": capability}, **{fact: _OTHERS[fact]})

    result = project.run("--opcost")

    result.assert_outcomes(failed=int(compared), passed=int(not compared))
    if compared:
        assert _bullets(failure(result)) == [f"- aten::addmm (addmm) {_WORDS[fact]}"]
    else:
        assert "cost not judged" in told(result)


def test_a_new_operator_is_told_with_its_place(project: Project) -> None:
    _addmm(project)
    project.record()
    places = [["forward", "layer1.0.conv", "model.py:12"]]
    facts = {"aten::addmm": _ADDMM, "aten::clone": {"places": places}}
    project.costs({**LENET, "aten::clone": 1.0}, facts=facts)

    expected = "aten::clone (copy) is new: 1 call a step (was 0), in layer1.0.conv at model.py:12; it takes 1 us a step"
    assert _bullets(failure(project.run("--opcost"))) == [f"- {expected}"]


def test_a_baseline_from_before_there_were_facts_is_no_drift(project: Project) -> None:
    project.costs()
    project.record()
    _addmm(project)

    project.run("--opcost").assert_outcomes(passed=1)
