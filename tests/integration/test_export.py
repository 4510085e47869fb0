"""`--opcost-export`: the results in the formats of others, as many as are asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.values import EXPORTS

from .project import told

if TYPE_CHECKING:
    from .project import Project

_ALL = [f"--opcost-export={kind}:out/{kind}.txt" for kind in EXPORTS]


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["one process", "xdist"])
def test_all_formats_in_one_run(project: Project, workers: list[str]) -> None:
    if workers:
        pytest.importorskip("xdist")
    project.installs_its_own_seam()
    project.checks("test_more")

    result = project.pytester.run(sys.executable, "-m", "pytest", "--opcost", *workers, *_ALL)

    assert result.ret == 0
    assert {path.name: "test_more.py::test_more" in text for path, text in project.files("out").items()} == {
        f"{kind}.txt": True for kind in EXPORTS
    }
    for kind in EXPORTS:
        assert f"{kind}: out/{kind}.txt" in result.outlines


def test_the_ini_file_names_one_on_each_line(project: Project) -> None:
    project.ini("opcost_export =", "  csv:costs.csv", "  gitlab:metrics.txt")

    assert project.run("--opcost").ret == 0

    assert (project.path / "costs.csv").exists()
    assert (project.path / "metrics.txt").read_text("utf-8").endswith("# EOF\n")


def test_a_bad_one_is_a_usage_error(project: Project) -> None:
    result = project.run("--opcost", "--opcost-export=xml:a.xml")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0] == "ERROR: --opcost-export='xml:a.xml' is not valid."
    assert project.seam.calls == []


def test_one_that_cannot_be_written_fails_the_run_and_keeps_none_of_the_others_from_it(project: Project) -> None:
    project.record()
    project.gets_in_the_way("file")

    result = project.run("--opcost", "--opcost-export=csv:file/a.csv", "--opcost-export=bencher:b.json")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert told(result).count("ERROR: ") == 1
    assert "Choose another place with --opcost-export=FORMAT:PATH." in told(result)
    assert (project.path / "b.json").exists()
