"""A round in another tree, by another interpreter: what it measures is that tree's, the instrument is this one."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .fake_seam import LENET
from .rounds import run_round

if TYPE_CHECKING:
    from pytest_opcost.rounds import Round, Side

    from .project import Project

_TEST = "tests/test_net.py::test_net"


@pytest.fixture
def suite(suite: Project) -> Project:
    """A project with a package of its own, which says what its step costs."""
    suite.write("src/net.py", "COST = 1.0\n")
    suite.write("tests/test_net.py", f"""
import net

OPS = {LENET!r}


def test_net(opcost):
    opcost.check(lambda: {{"ops": {{**OPS, "aten::addmm": net.COST}}}})
""")  # fmt: skip
    suite.pytester.syspathinsert(suite.path)
    suite.pytester.syspathinsert(suite.path / "src")
    return suite


@pytest.fixture
def other(suite: Project, tmp_path: Path) -> Path:
    """Another tree with the same project, where the step is dearer."""
    tree = tmp_path / "other"
    shutil.copytree(suite.path, tree)
    (tree / "src" / "net.py").write_text("COST = 22.0  # dearer\n")
    return tree


def in_other(suite: Project, other: Path, *args: str, python: Path | None = None) -> Round:
    def side(head: Side) -> Side:
        return head.in_tree("base", suite.path, other, python=python)

    return run_round(suite, *args, tests=[_TEST], side=side)


def cost(found: Round) -> float:
    assert found.failures == {}
    (profile,) = found.profiles.values()
    return profile.by_name()["aten::addmm"].self_host_us


def test_it_measures_that_tree(suite: Project, other: Path) -> None:
    assert cost(run_round(suite, tests=[_TEST])) == 1
    assert cost(in_other(suite, other)) == 22


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_absolute_paths_into_the_runs_tree_are_not_followed(suite: Project, other: Path, mode: str) -> None:
    args = (f"--import-mode={mode}", f"--confcutdir={suite.path}", f"{suite.path}/tests", f"{suite.path}/{_TEST}")

    def spoilt(head: Side) -> Side:
        suite.write("tests/conftest.py", "raise ValueError('the wrong tree')\n")
        suite.write("tests/test_net.py", "raise ValueError('the wrong tree')\n")
        return head.in_tree("base", suite.path, other)

    assert cost(run_round(suite, *args, tests=[_TEST], side=spoilt)) == 22


def test_a_path_from_the_environment_is_that_trees(
    suite: Project, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or one of an editable installation, which stands in `sys.path` just so."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(suite.path / "src")])
    monkeypatch.setenv("PYTHONPATH", str(suite.path / "src"))

    assert cost(in_other(suite, other)) == 22


def test_it_measures_as_the_run_is_told_and_not_as_that_trees_ini_file_says(suite: Project, other: Path) -> None:
    ini = (suite.path / "pytest.ini").read_text()
    (other / "pytest.ini").write_text(
        f"{ini}opcost_threads = 7\nopcost_update_baselines = true\nopcost_json = o.json\n"
    )

    found = in_other(suite, other, "--opcost-threads=2")

    (profile,) = found.profiles.values()
    assert profile.environment.threads == 2
    assert not (other / "baselines").exists()
    assert not (other / "o.json").exists()


def test_a_test_that_is_not_there(suite: Project, other: Path) -> None:
    (other / "tests" / "test_net.py").unlink()
    assert in_other(suite, other).failures == {_TEST: "was not collected: there is no tests/test_net.py in that commit"}


def test_another_version_of_the_plugin_there_is_not_used(suite: Project, other: Path) -> None:
    for folder in (other, other / "src"):
        (folder / "pytest_opcost").mkdir()
        (folder / "pytest_opcost" / "__init__.py").write_text("raise ValueError('the wrong version')\n")
    spawns = """
import multiprocessing


def work(number):
    import pytest_opcost

    return pytest_opcost.__version__


def test_net(opcost, step):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(work, [1]) == [work(1)]
    opcost.check(step)
"""
    assert cost(in_other(suite, other)) == 22

    (other / "tests" / "test_net.py").write_text(spawns)

    assert cost(in_other(suite, other)) == 1000


def test_an_interpreter_without_the_plugin_and_what_it_needs(suite: Project, other: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for name in (
        "pytest",
        "pluggy",
        "iniconfig",
        "packaging",
        "pygments",
        "exceptiongroup",
        "tomli",
        "typing_extensions",
    ):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # some are for older Pythons
            found = importlib.metadata.distribution(name)
            for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
                (site / top).symlink_to(Path(str(found.locate_file(top))))
    python = other / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={site} exec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    seen = "import importlib.util, json, pathlib\n\npathlib.Path('seen.json').write_text(json.dumps([name for name in "
    seen += "('yaml', 'tabulate', 'numpy', 'xdist') if importlib.util.find_spec(name)]))\n"
    (other / "conftest.py").write_text(seen + (other / "conftest.py").read_text())

    assert cost(in_other(suite, other, python=python)) == 22
    assert json.loads((other / "seen.json").read_text()) == []
