"""What cannot be told at this noise passes, and says how large a change would have been seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_opcost.judge import cost

from .fake_seam import LENET
from .project import summary, told

if TYPE_CHECKING:
    from .project import Project

#: Read before any test has a seam, which sets it to nothing.
SHIPPED_PROCESS_FLOOR_US = cost.PROCESS_FLOOR_US


def test_a_noisy_baseline_says_what_it_could_have_seen(project: Project) -> None:
    project.write(
        "test_model.py",
        f"""
OPS = {LENET!r}
copies = iter([40.0, 40.0, 80.0, 80.0, 40.0])


def test_model(opcost):
    opcost.check(lambda: {{"ops": OPS | {{"aten::copy_": [next(copies), 2]}}}})
""",
    )
    project.record()
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step)\n")
    project.lenet(copy_=[80.0, 2])

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 inconclusive" in summary(result)
    assert "inconclusive test_model.py::test_model" in told(result)
    assert (
        "aten::copy_ (copy): the baseline's own rounds differ by 100 %; only a change above 200 % would have been seen"
    ) in told(result)


def test_a_loaded_machine_says_what_it_could_have_seen(project: Project) -> None:
    project.record()
    project.lenet(gelu=[210.0, 3])
    project.costs({**LENET, "aten::gelu": [210.0, 3]}, load=1.0)

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert result.ret == 0
    assert (
        "aten::gelu (elementwise): 210 us a step, was 150 us (+40 %): the machine is busier or slower; "
        "only above 60 % would have been told"
    ) in told(result)
    assert "opcost: 1 inconclusive" in summary(result)
    assert len(project.seam.calls) == 5


def test_a_drift_that_the_load_does_not_explain_fails_all_the_same(project: Project) -> None:
    project.record()
    project.costs({**LENET, "aten::gelu": [300.0, 3]}, load=1.0)

    project.run("--opcost").assert_outcomes(failed=1)


@pytest.mark.parametrize(("addmm", "outcome"), [(125.0, "passed"), (140.0, "failed")])
def test_a_ratio_on_a_loaded_machine(project: Project, addmm: float, outcome: str) -> None:
    project.record()
    project.costs({**LENET, "aten::addmm": [addmm, 2]}, load=1.0)

    result = project.run("--opcost", "--opcost-tolerance=9")

    result.assert_outcomes(**{outcome: 1})
    told_so = "conv/addmm: 3.2, was 4 (-20 %): the machine is busier or slower; only above 30 % is told"
    assert (told_so in told(result)) == (outcome == "passed")


@pytest.mark.parametrize(("gelu", "outcome"), [(195.0, "passed"), (215.0, "failed")])
def test_what_processes_differ_by_is_no_drift(
    project: Project, monkeypatch: pytest.MonkeyPatch, gelu: float, outcome: str
) -> None:
    """45 us more are what another process may cost, 65 us are not: here the limit is the one that is shipped."""
    monkeypatch.setattr(cost, "PROCESS_FLOOR_US", SHIPPED_PROCESS_FLOOR_US)
    project.record()
    project.lenet(gelu=[gelu, 3])

    result = project.run("--opcost")

    result.assert_outcomes(**{outcome: 1})
    told_so = "(+30 %): processes differ by as much; only above 200 us would have been told"
    assert (told_so in told(result)) == (outcome == "passed")
