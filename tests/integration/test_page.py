"""`--opcost-html`: the page of a run, and a folder that cannot be written."""

from __future__ import annotations

import json

import pytest

from .project import Project, told

pytest.importorskip("jinja2")
# Pytester forgets what a test imports first, and numpy, which this loads, cannot be imported twice.
pytest.importorskip("pytest_opcost.report.page")


def test_a_run_writes_its_page(project: Project) -> None:
    project.record()
    result = project.run("--opcost", "--opcost-html=out/page")
    assert result.ret == pytest.ExitCode.OK
    page = project.path / "out" / "page"
    assert "test_model.py::test_model" in (page / "index.html").read_text("utf-8").replace("<wbr>", "")
    (pages,) = page.glob("pages-*")
    (family,) = pages.glob("test_model*.html")
    text = family.read_text("utf-8").replace("<wbr>", "")
    assert "aten::mkldnn_convolution" in text
    # What was compared came all the way: the baseline's cost, this run's, and the band.
    assert "±" in text


def test_a_folder_that_cannot_be_written_fails_the_run_and_no_other_report(project: Project) -> None:
    project.record()
    project.gets_in_the_way("taken")
    result = project.run("--opcost", "--opcost-html=taken", "--opcost-json=out.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "ERROR: the page could not be written to" in told(result)
    assert "--opcost-html=DIR" in told(result)
    assert json.loads((project.path / "out.json").read_text("utf-8"))["tests"][0]["verdict"] == "passed"
    assert (project.path / "taken").read_text() == "in the way"
