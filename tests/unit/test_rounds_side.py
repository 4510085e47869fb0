"""The same project in another tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_opcost.rounds import Side
from pytest_opcost.rounds.round import _arguments


@pytest.fixture
def trees(tmp_path):
    """Two trees; the second has all files of the first but `new.ini` and the folder `data`."""
    for name in ("old/project/sub", "old/project/src", "old/data", "new/project/sub", "new/project/src"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("old/project/a.ini", "new/project/a.ini", "old/project/new.ini"):
        (tmp_path / name).touch()
    return tmp_path / "old", tmp_path / "new"


def head(old, **more):
    return Side("head", Path("/usr/bin/python3"), old / "project", old / "project" / "sub", **more)


def test_its_paths_move(trees):
    old, new = trees
    side = head(old, import_paths=(str(old / "project/src"), "/elsewhere"), inifile=old / "project/a.ini")

    base = side.in_tree("base", old, new, import_paths=[new / "more"])

    assert base == Side(
        name="base",
        python=Path("/usr/bin/python3"),
        root=new / "project",
        directory=new / "project" / "sub",
        import_paths=(str(new / "more"), str(new / "project/src"), "/elsewhere"),
        inifile=new / "project/a.ini",
        moved=(old, new),
    )


def test_another_interpreter(trees):
    assert head(trees[0]).in_tree("base", *trees, python=Path("/other/python")).python == Path("/other/python")


def test_what_is_not_there_is_left_to_pytest(trees):
    old, new = trees
    (new / "project/sub").rmdir()

    base = head(old, inifile=old / "project/new.ini").in_tree("base", old, new)

    assert base.inifile is None
    assert base.directory == new / "project"


def test_absolute_paths_in_arguments_move_if_they_are_there(trees):
    old, new = trees
    args = (f"{old}/project/sub", f"{old}/project/a.ini::test_a[{old}]", f"--mine={old}/project", f"--mine={old}/data",
            "project/sub", "-k", f"not {old}/project", f"{old}er/project", "--mine", str(old))  # fmt: skip

    base = head(old, args=args).in_tree("base", old, new)

    assert base.args == (
        f"{new}/project/sub", f"{new}/project/a.ini::test_a[{old}]", f"--mine={new}/project", f"--mine={old}/data",
        "project/sub", "-k", f"not {old}/project", f"{old}er/project", "--mine", str(new),
    )  # fmt: skip


def test_the_command_for_a_person(trees):
    old, new = trees
    side = head(old, import_paths=(str(old / "project/src"),))
    here = "/usr/bin/python3 -m pytest 'test_a.py::test_b[a b]' --opcost"

    assert side.command("test_a.py::test_b[a b]") == f"cd {old}/project && {here}"
    assert side.in_tree("base", old, new).command("test_a.py::test_b[a b]") == f"in a checkout of it: {here}"


def test_root_and_ini_file_come_after_the_users_options_and_before_the_end_of_options(trees):
    old, _ = trees
    fixed = (f"--rootdir={old}/project", "-c", f"{old}/project/a.ini")

    for before, after in ((("-x", "a"), ()), (("-x",), ("--", "a", "--", "b")), ((), ())):
        side = head(old, inifile=old / "project/a.ini", args=(*before, *after))
        assert _arguments(side) == [*before, *fixed, *after]
    assert _arguments(head(old, args=("a",))) == ["a", fixed[0]]
