"""What cannot be told at this noise passes, and says how large a change would have been seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .fake_seam import LENET
from .project import summary, told

if TYPE_CHECKING:
    from .project import Project


def test_a_noisy_baseline_says_what_it_could_have_seen(project: Project) -> None:
    project.write(
        "test_model.py",
        f"""
OPS = {LENET!r}
copies = iter([400.0, 400.0, 800.0, 800.0, 400.0])


def test_model(opcost):
    opcost.check(lambda: {{"ops": OPS | {{"aten::copy_": [next(copies), 2]}}}})
""",
    )
    project.record()
    project.write("test_model.py", "def test_model(opcost, step):\n    opcost.check(step)\n")
    project.lenet(copy_=[800.0, 2])

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 inconclusive" in summary(result)
    assert "inconclusive test_model.py::test_model" in told(result)
    assert (
        "aten::copy_ (copy): the baseline's own rounds differ by 100 %; only a change above 200 % would have been seen"
    ) in told(result)


def test_a_loaded_machine_says_what_it_could_have_seen(project: Project) -> None:
    project.record()
    project.lenet(gelu=[2100.0, 3])
    project.costs({**LENET, "aten::gelu": [2100.0, 3]}, load=1.0)

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert result.ret == 0
    assert (
        "aten::gelu (elementwise): 2,100 us a step, was 1,500 us (+40 %): the machine is busier or slower; "
        "only above 60 % would have been told"
    ) in told(result)
    assert "opcost: 1 inconclusive" in summary(result)
    assert len(project.seam.calls) == 5


def test_a_drift_that_the_load_does_not_explain_fails_all_the_same(project: Project) -> None:
    project.record()
    project.costs({**LENET, "aten::gelu": [3000.0, 3]}, load=1.0)

    project.run("--opcost").assert_outcomes(failed=1)


@pytest.mark.parametrize(("addmm", "outcome"), [(1250.0, "passed"), (1400.0, "failed")])
def test_a_ratio_on_a_loaded_machine(project: Project, addmm: float, outcome: str) -> None:
    project.record()
    project.costs({**LENET, "aten::addmm": [addmm, 2]}, load=1.0)

    result = project.run("--opcost", "--opcost-tolerance=9")

    result.assert_outcomes(**{outcome: 1})
    told_so = "conv/addmm: 3.2, was 4 (-20 %): the machine is busier or slower; only above 30 % is told"
    assert (told_so in told(result)) == (outcome == "passed")


@pytest.mark.parametrize(("gelu", "outcome"), [(195.0, "passed"), (215.0, "failed")])
def test_what_processes_differ_by_is_no_drift(project: Project, gelu: float, outcome: str) -> None:
    """Of a step of 1,000 us, 45 us more are what another process may cost, 65 us are not."""
    ops = {"aten::mkldnn_convolution": 400.0, "aten::max_pool2d_with_indices": 350.0, "aten::addmm": 100.0}
    project.costs({**ops, "aten::gelu": 150.0})
    project.record()
    project.costs({**ops, "aten::gelu": gelu})

    result = project.run("--opcost")

    result.assert_outcomes(**{outcome: 1})
    told_so = "(+30 %): processes differ by as much; only above 200 us would have been told"
    assert (told_so in told(result)) == (outcome == "passed")
