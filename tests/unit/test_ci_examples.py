"""What `examples/ci` has to copy is valid, and uses options that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from pytest_opcost import values
from pytest_opcost.declared import OPTIONS
from pytest_opcost.plugin import FLAGS

FOLDER = Path(__file__).parents[2] / "examples" / "ci"
GITHUB = yaml.safe_load((FOLDER / "github.yml").read_text("utf-8"))
GITLAB = yaml.safe_load((FOLDER / "gitlab.yml").read_text("utf-8"))
STEPS = GITHUB["jobs"]["opcost"]["steps"]
COMMANDS = {
    "github": [step["run"] for step in STEPS if "pytest" in step.get("run", "") and "pip" not in step["run"]],
    "gitlab": [line for line in GITLAB["opcost"]["script"] if "pytest" in line],
}


@pytest.mark.parametrize("where", COMMANDS)
def test_every_option_exists_and_makes_sense(where):
    declared = {f"--{name}" for name, _ in FLAGS} | {f"--opcost-{option.name}" for option in OPTIONS}
    used = re.findall(r"(--opcost[-\w]*)(?:=([^\s\"]+))?", " ".join(COMMANDS[where]))
    assert {name for name, _ in used} <= declared
    assert "--opcost" in {name for name, _ in used}
    assert [values.exports(name, value) for name, value in used if name == "--opcost-export"]


@pytest.mark.parametrize("where", COMMANDS)
def test_baselines_first_then_the_base_of_a_merge_request(where):
    first, second = COMMANDS[where]
    assert "--opcost-base" not in first
    assert "--opcost-base=" in second
    for command in (first, second):
        assert "--opcost-update" not in command


def test_what_is_written_is_uploaded_even_when_the_run_failed():
    upload = STEPS[-1]
    assert (upload["if"], upload["with"]["path"]) == ("${{ !cancelled() }}", "opcost/")
    job = GITLAB["opcost"]["artifacts"]
    assert (job["when"], job["paths"]) == ("always", ["opcost/"])
    for commands in COMMANDS.values():
        written = re.findall(
            r"--(?:junitxml|opcost-json|opcost-html|opcost-export)=(?:[\w-]+:)?(\S+)", " ".join(commands)
        )
        assert len(written) == 6
        assert all(path.startswith("opcost/") for path in written)


def test_gitlab_finds_its_reports_where_they_are_written():
    reports = GITLAB["opcost"]["artifacts"]["reports"]
    text = " ".join(COMMANDS["gitlab"])
    assert f"--opcost-export=gitlab:{reports['metrics']}" in text
    assert reports["junit"] == "opcost/junit*.xml"
    assert "--junitxml=opcost/junit.xml" in text
    assert "--junitxml=opcost/junit-base.xml" in text


def test_the_commits_that_are_compared_with_are_there():
    assert STEPS[0]["with"]["fetch-depth"] == 2
    assert "--opcost-base=HEAD^1" in COMMANDS["github"][1]
    assert GITLAB["opcost"]["variables"]["GIT_DEPTH"] == 0


def test_the_workflow_runs_on_pushes_and_pull_requests():
    # YAML 1.1 takes the word `on` for true.
    assert GITHUB[True] == {"push": {"branches": ["main"]}, "pull_request": None}
