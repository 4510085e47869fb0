"""JUnit's XML: a drift is the failure of its test case, and the figures of every check are its properties."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .project import Project

_PROPERTIES = {
    "opcost.outcome": "passed",
    "opcost.machine": "cpu-chip-a-1-thread-torch2.9",
    "opcost.step_us": "11000.0",
    "opcost.conv/addmm": "4.0",
}


def _cases(path: Path) -> dict[str | None, ElementTree.Element]:
    suite = ElementTree.parse(path).getroot().find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "1"
    return {case.get("name"): case for case in suite.iter("testcase")}


def _properties(case: ElementTree.Element) -> dict[str | None, str | None]:
    pairs = [(one.get("name"), one.get("value")) for one in case.iter("property")]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@pytest.fixture
def drifted(project: Project) -> Project:
    """A project of two tests that other processes can run too, of which one has drifted."""
    project.installs_its_own_seam()
    project.checks("test_two")
    project.record()
    project.lenet(test="test_two", addmm=[2000.0, 2])
    return project


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["one process", "xdist"])
@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_a_drift_is_a_failure_and_figures_are_properties(drifted: Project, workers: list[str], family: str) -> None:
    if workers:
        pytest.importorskip("xdist")
    command = (sys.executable, "-m", "pytest", "--opcost", *workers, "--junitxml=junit.xml", "-o")

    result = drifted.pytester.run(*command, f"junit_family={family}")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    cases = _cases(drifted.path / "junit.xml")
    passed = _properties(cases["test_model"])
    assert float(passed.pop("opcost.seen_from") or 0) > 0
    assert passed == _PROPERTIES
    failed = _properties(cases["test_two"])
    assert (failed["opcost.outcome"], failed["opcost.conv/addmm"]) == ("drifted", "2.0")
    element = cases["test_two"].find("failure")
    assert element is not None
    assert element.get("message", "").startswith("aten::addmm +100 % (2,000 us a step")
    assert cases["test_model"].find("failure") is None


def test_checks_of_one_test_and_odd_names_are_told_apart(project: Project) -> None:
    project.write(
        "test_model.py",
        "def test_model(opcost, step, record_property):\n    record_property('mine', 1)\n"
        "    opcost.check(step, name='encoder')\n    opcost.check(step, name='a<b>\\x01\"')\n    assert False\n",
    )

    # pytest's own fixture warns of the newer family.
    project.run("--opcost", "--junitxml=junit.xml", "-o", "junit_family=xunit1")

    found = _properties(_cases(project.path / "junit.xml")["test_model"])
    assert found["mine"] == "1"
    assert found["opcost.encoder.outcome"] == "recorded"
    assert found['opcost.a<b>?".outcome'] == "recorded"


def test_a_test_that_checks_nothing_has_none(project: Project) -> None:
    project.write("test_model.py", "def test_model(opcost):\n    assert False\n")

    project.run("--opcost", "--junitxml=junit.xml")

    assert _properties(_cases(project.path / "junit.xml")["test_model"]) == {}


def test_a_test_that_runs_again_has_each_property_once(project: Project) -> None:
    project.record()
    project.lenet(copy_=None)
    conftest = (project.path / "conftest.py").read_text("utf-8")
    project.write(
        "conftest.py",
        conftest + "\n\ndef pytest_runtest_protocol(item, nextitem):\n"
        "    from _pytest.runner import runtestprotocol\n\n"
        "    runtestprotocol(item, nextitem=nextitem, log=False)\n    item._initrequest()\n",
    )

    project.run("--opcost", "--junitxml=junit.xml")

    assert _properties(_cases(project.path / "junit.xml")["test_model"])["opcost.outcome"] == "drifted"
