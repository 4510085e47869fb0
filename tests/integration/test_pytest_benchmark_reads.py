"""`pytest-benchmark compare` reads the export of that name, and tells two runs of the same tests apart."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pytest_benchmark")

if TYPE_CHECKING:
    from .project import Project


def _compare(project: Project, *args: str) -> str:
    command = [sys.executable, "-W", "error", "-m", "pytest_benchmark", "compare", "before.json", "after.json", *args]
    # Its own command imports a conftest that it finds; the project's is none of its business.
    folder = project.path / "elsewhere"
    folder.mkdir(exist_ok=True)
    for name in ("before.json", "after.json"):
        (folder / name).write_bytes((project.path / name).read_bytes())
    environ = {**os.environ, "COLUMNS": "300"}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "Failed to load" not in done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def runs(project: Project) -> Project:
    """A project with two exported runs, of which the later is dearer."""
    project.record()
    project.run("--opcost", "--opcost-export=pytest-benchmark:before.json")
    project.lenet(addmm=[2000.0, 2])
    project.run("--opcost", "--opcost-export=pytest-benchmark:after.json")
    return project


def test_a_table_for_each_test(runs: Project) -> None:
    lines = _compare(runs, "--columns=min,rounds").splitlines()

    assert any("benchmark 'test_model.py::test_model': 16 tests" in line for line in lines)
    (before,) = (line.split() for line in lines if line.startswith("test_model aten::addmm (before"))
    (after,) = (line.split() for line in lines if line.startswith("test_model aten::addmm (after"))
    assert (before[3], after[3]) == ("1,000.0000", "2,000.0000")


def test_its_csv_has_seconds(runs: Project) -> None:
    _compare(runs, "--csv=table.csv", "--group-by=fullname")

    with (runs.path / "elsewhere" / "table.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["name"] == "test_model.py::test_model step"]
    assert sorted(float(row["mean"]) for row in rows) == pytest.approx([11000e-6, 12100e-6])
    assert {row["param:device"] for row in rows} == {"cpu"}
