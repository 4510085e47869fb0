"""The catalogue of regressions on the CPU, without timings: what is exact about each is caught and told rightly."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")
# The catalogue is the benchmark's, which is started as a script.
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import torch
from caught import stored
from regressions.catalogue import HARMLESS, REGRESSIONS

from pytest_opcost.baselines import new_baseline
from pytest_opcost.judge import causes
from pytest_opcost.judge.exact import exact_findings
from pytest_opcost.measure import Plan, measure

pytestmark = [
    pytest.mark.usefixtures("warm_torch"),
    pytest.mark.filterwarnings("ignore:`torch.cpu.amp.autocast:FutureWarning"),  # torch 2.4's own
    pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="the operators' names are those of oneDNN"),
]
QUICK = Plan("cpu", warmup=1, steps=2)
ON_CPU = [case for case in REGRESSIONS if "cpu" in case.devices]


def changed(case):
    """The exact findings of a case that fail, and their causes."""
    device = torch.device("cpu")
    with case.settings_before():
        before = measure(case.before(device), QUICK)
    with case.settings_after():
        after = measure(case.after(device), QUICK)
    old = stored(new_baseline(Path("x.yaml"), "test", None, [before], [])).profile
    findings = exact_findings(old, after)
    return [finding for finding in findings if finding.fails], causes(old, after, findings)


@pytest.mark.parametrize("case", ON_CPU, ids=lambda case: case.name)
def test_a_regression_is_caught_and_its_operator_and_cause_are_right(case):
    findings, why = changed(case)

    assert why
    assert (why[0].kind in case.kinds, case.names(why[0].op)) == (True, True), why[0]
    assert {finding.op for finding in findings} <= {name for cause in why for name in cause.explains}


@pytest.mark.parametrize("case", HARMLESS, ids=lambda case: case.name)
def test_a_harmless_refactoring_passes(case):
    assert changed(case) == ([], ())


def test_the_catalogue_is_as_large_as_promised():
    names = [case.name for case in (*REGRESSIONS, *HARMLESS)]
    assert len(set(names)) == len(names)
    assert len(ON_CPU) >= 24
    assert len(HARMLESS) >= 12
    assert all(case.kinds and case.ops and case.devices for case in REGRESSIONS)
