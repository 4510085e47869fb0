"""A report that cannot be written is told before anything is measured, and looking leaves nothing behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .project import Project


@pytest.fixture
def taken(project: Project) -> Project:
    """A project with a file and a folder in the way."""
    project.write("file", "in the way")
    (project.path / "folder").mkdir()
    (project.path / "site").mkdir()
    (project.path / "other" / "index.html").mkdir(parents=True)
    project.write("site/index.html", "<!doctype html><title>Somebody's own</title>")
    return project


def _names(project: Project) -> set[Path]:
    return {path for path in project.path.rglob("*") if "__pycache__" not in path.parts}


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("--opcost-json=file/costs.json", "{}/file is a file."),
        ("--opcost-json=file/new/costs.json", "{}/file is a file."),
        ("--opcost-json=folder", "it is a folder."),
        ("--opcost-html=file", "it is a file."),
        ("--opcost-html=fine", "--opcost-json is written to its index.html."),
        ("--opcost-html=other", "its index.html was not written by pytest-opcost."),
        ("--opcost-html=site", "its index.html was not written by pytest-opcost."),
        ("--opcost-markdown=fine/costs.json", "--opcost-json is written to the same place."),
        ("--opcost-export=csv:fine/../fine/costs.json", "--opcost-json is written to the same place."),
        ("--opcost-markdown=folder", "it is a folder."),
        ("--opcost-export=csv:file/costs.csv", "{}/file is a file."),
        ("--opcost-tensorboard=file/tb", "{}/file is a file."),
        (f"--opcost-html={'x' * 300}/page", "File name too long, in {}/" + "x" * 300 + "/page."),
    ],
    ids=lambda value: value[:30] if value.startswith("--") else "",
)
def test_it_is_a_usage_error_before_anything_is_measured(taken: Project, option: str, why: str) -> None:
    before = _names(taken)
    name = "index.html" if option == "--opcost-html=fine" else "costs.json"

    result = taken.run("--opcost", f"--opcost-json=fine/{name}", option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    first, second, third = (line for line in result.errlines if line)
    assert first == f"ERROR: {option}: the report cannot be written there: {why.format(taken.path)}"
    assert second.startswith("Expected: a f")
    taken_by_others = "written" in why
    assert second.endswith("that nobody else writes." if taken_by_others else "where this user may write.")
    mend = "" if taken_by_others else ", or make this one writable"
    assert third == f"Give another path to {option.partition('=')[0]}{mend}. Nothing was measured."
    assert taken.seam.calls == []
    assert _names(taken) == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_folder_where_nobody_may_write(project: Project) -> None:
    result = project.run("--opcost", "--opcost-json=/proc/self/costs.json")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0].startswith("ERROR: --opcost-json=/proc/self/costs.json: the report cannot be written ")
    assert result.errlines[0].endswith(", in /proc/self.")


def test_looking_makes_no_folder_and_touches_no_report(project: Project) -> None:
    project.write("costs.json", "an older one")
    os.utime(project.path / "costs.json", (1, 1))
    project.write("test_model.py", "import pytest\n\n\ndef test_model():\n    pytest.exit('stop')\n")
    project.write(
        "conftest.py",
        "from pathlib import Path\n\n\ndef pytest_collection():\n"
        "    assert not Path('new').exists()\n    assert not [*Path().glob('.writing-*')]\n"
        "    assert Path('costs.json').stat().st_mtime == 1\n",
    )

    result = project.run("--opcost", "--opcost-json=costs.json", "--opcost-html=new/page", "--opcost-markdown=new/r.md")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert (project.path / "new" / "page" / "index.html").exists()


@pytest.mark.parametrize("args", [["--collect-only", "--opcost"], []], ids=" ".join)
def test_where_no_report_is_to_be_written_nobody_looks(taken: Project, args: list[str]) -> None:
    assert taken.run(*args, "--opcost-json=folder").ret == 0
