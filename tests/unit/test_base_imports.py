"""Whose code a process imports, on folders and modules made by hand."""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

import pytest

from pytest_opcost.base.foreign import copies_error, foreign_error, foreign_modules, installed_copies
from pytest_opcost.base.imports import counterpart, import_paths, in_tree
from pytest_opcost.errors import BaseError

FILES = ("src/pkg/__init__.py", "src/mod.py", "tests/test_it.py", "ns/inner/pkg2/__init__.py", "pkg3/__init__.py")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make(tmp_path / "top")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make(tmp_path / "tmp" / "top")


def make(folder: Path) -> Path:
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder.resolve()


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch):
    """Sets `sys.path`."""
    return lambda *entries: monkeypatch.setattr(sys, "path", [str(entry) for entry in entries])


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    """Puts a module into `sys.modules`, from a file that it makes."""

    def load(name: str, file: Path) -> str:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        module = ModuleType(name)
        module.__file__ = str(file)
        monkeypatch.setitem(sys.modules, name, module)
        return f"{name} ({file.resolve()})"

    return load


@pytest.fixture
def finder(monkeypatch: pytest.MonkeyPatch, paths):
    """Installs a setuptools editable finder with a mapping; nothing else is in `sys.path`."""
    paths()

    def finder(**mapping: Path) -> None:
        module = ModuleType("__editable___demo_1_0_finder")
        module.MAPPING = {name.replace("__", "."): str(place) for name, place in mapping.items()}  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)

    return finder


class TestImportPaths:
    def test_entries_in_the_repository_in_their_order_and_once(self, top: Path, tree: Path, paths) -> None:
        paths(top / "tests", "/elsewhere", top / "src", top, top / "tests" / "..", top / "src")
        assert import_paths(top, tree) == (str(tree / "tests"), str(tree / "src"), str(tree))

    def test_what_the_tree_lacks_is_left_out(self, top: Path, tree: Path, paths) -> None:
        (top / "new").mkdir()
        paths(top / "new", top / "src")
        assert import_paths(top, tree) == (str(tree / "src"),)

    def test_a_folder_beside_that_only_begins_alike_is_not_in_it(self, top: Path, tree: Path, paths) -> None:
        paths(top.with_name("top2"))
        assert import_paths(top, tree) == ()

    def test_the_current_folder(self, top: Path, tree: Path, paths, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(top / "src")
        paths("")
        assert import_paths(top, tree) == (str(tree / "src"),)

    def test_through_a_link(self, top: Path, tree: Path, paths, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(top)
        paths(tmp_path / "link" / "src")
        assert import_paths(top, tree) == (str(tree / "src"),)

    @pytest.mark.parametrize("place", [".venv/lib/python3.11/site-packages", "env/lib/python3/dist-packages"])
    def test_installed_packages_in_the_repository_never(self, top: Path, tree: Path, paths, place: str) -> None:
        for folder in (top, tree):
            (folder / place).mkdir(parents=True)
        paths(top / place)
        assert import_paths(top, tree) == ()

    def test_the_interpreters_own_folders_in_the_repository_never(
        self, top: Path, tree: Path, paths, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for folder in (top, tree):
            (folder / "env" / "lib").mkdir(parents=True)
        paths(top / "env" / "lib", top / "src")
        assert len(import_paths(top, tree)) == 2
        monkeypatch.setattr(sys, "prefix", str(top / "env"))
        assert import_paths(top, tree) == (str(tree / "src"),)

    @pytest.mark.parametrize("prefix", ["", ".."])
    def test_a_repository_below_the_interpreters_prefix(
        self, top: Path, tree: Path, paths, monkeypatch: pytest.MonkeyPatch, prefix: str
    ) -> None:
        monkeypatch.setattr(sys, "prefix", str(top / prefix))
        paths(top / "src")
        assert import_paths(top, tree) == (str(tree / "src"),)


class TestMappedPackages:
    def test_packages_modules_and_parts_of_namespaces(self, top: Path, tree: Path, finder) -> None:
        finder(pkg=top / "src" / "pkg", mod=top / "src" / "mod.py", inner__pkg2=top / "ns" / "inner" / "pkg2")
        assert import_paths(top, tree) == (str(tree / "src"), str(tree / "ns"))

    def test_at_the_top(self, top: Path, tree: Path, finder) -> None:
        finder(pkg3=top / "pkg3")
        assert import_paths(top, tree) == (str(tree),)

    def test_a_package_of_another_name_than_its_folder(self, top: Path, tree: Path, finder) -> None:
        finder(other=top / "src" / "pkg")
        assert import_paths(top, tree) == ()

    def test_of_another_repository(self, top: Path, tree: Path, finder, tmp_path: Path) -> None:
        finder(pkg=tmp_path / "other" / "pkg")
        assert import_paths(top, tree) == ()

    def test_after_the_entries_of_sys_path(self, top: Path, tree: Path, finder, paths) -> None:
        finder(pkg3=top / "pkg3")
        paths(top / "src")
        assert import_paths(top, tree) == (str(tree / "src"), str(tree))


class TestCounterpart:
    def test_below_and_at_the_top(self, top: Path, tree: Path) -> None:
        assert counterpart(top / "a" / "b.ini", top, tree) == tree / "a" / "b.ini"
        assert counterpart(top, top, tree) == tree

    def test_elsewhere(self, top: Path, tree: Path, tmp_path: Path) -> None:
        assert counterpart(tmp_path / "other" / ".." / "x", top, tree) == tmp_path / "x"

    def test_relative(self, top: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(top / "src")
        assert counterpart(Path("../tests"), top, tree) == tree / "tests"

    def test_links(self, top: Path, tree: Path, tmp_path: Path) -> None:
        (tmp_path / "into").symlink_to(top / "src")
        assert counterpart(tmp_path / "into" / "mod.py", top, tree) == tree / "src" / "mod.py"
        (top / "out").symlink_to(tmp_path)
        assert counterpart(top / "out" / "data", top, tree) == tree / "out" / "data"


class TestForeignModules:
    def test_only_those_of_the_repository(self, top: Path, tree: Path, load) -> None:
        load("of_the_tree", tree / "src" / "of_the_tree.py")
        load("of_neither", top.parent / "of_neither.py")
        assert foreign_modules(top, []) == []
        two = load("two.part", top / "src" / "two" / "part.py")
        one = load("one", top / "one.py")
        assert foreign_modules(top, []) == [one, two]

    def test_through_a_link(self, top: Path, load, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(top)
        line = load("linked", tmp_path / "link" / "src" / "linked.py")
        assert foreign_modules(top, []) == [line]

    def test_not_what_is_installed_in_the_repository(self, top: Path, load, monkeypatch: pytest.MonkeyPatch) -> None:
        load("installed", top / ".venv" / "lib" / "site-packages" / "installed.py")
        load("standard", top / "env" / "lib" / "standard.py")
        monkeypatch.setattr(sys, "prefix", str(top / "env"))
        assert foreign_modules(top, []) == []

    def test_not_what_is_allowed(self, top: Path, load, tmp_path: Path) -> None:
        load("plugin", top / "plugin" / "plugin.py")
        (tmp_path / "link").symlink_to(top)
        assert foreign_modules(top, [tmp_path / "link" / "plugin"]) == []

    def test_a_compiled_extension_is_said(self, top: Path, load) -> None:
        line = load("native", top / f"native{EXTENSION_SUFFIXES[0]}")
        assert foreign_modules(top, []) == [line[:-1] + ": a compiled extension, which the base's tree has not built)"]

    def test_odd_modules(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Lazy(ModuleType):
            def __getattr__(self, name: str) -> object:
                raise AssertionError("it was asked to import something")

        for name, module in {"lazy": Lazy("lazy"), "none": None, "object": object(), "space": ModuleType("s")}.items():
            monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setattr(sys.modules["space"], "__file__", None, raising=False)
        assert foreign_modules(top, []) == []

    def test_the_message(self) -> None:
        error = foreign_error("main", ["pkg (/top/src/pkg/__init__.py)", "mod (/top/src/mod.py)"])
        assert isinstance(error, BaseError)
        assert str(error) == (
            "--opcost-base=main: its process imported code of your working tree, so head would be compared with "
            "itself:\n"
            "  - pkg (/top/src/pkg/__init__.py)\n"
            "  - mod (/top/src/mod.py)\n"
            "Expected: modules of the base commit's own files.\n"
            "Where the package is at another place in that commit, or an import hook leads to your working tree, say "
            "where it is on both sides: PYTHONPATH=FOLDER pytest ... (a compiled extension must be built in both)."
        )


class TestInstalledCopies:
    @pytest.fixture
    def site(self, tmp_path: Path) -> Path:
        return tmp_path / "venv" / "lib" / "site-packages"

    def test_a_package_and_a_module_that_the_tree_has_too(self, tree: Path, site: Path, load) -> None:
        lines = [
            load("mod", site / "mod.py"),
            load("pkg", site / "pkg" / "__init__.py"),
            load("pkg3", site / "pkg3.py"),
        ]
        assert installed_copies(tree, []) == lines

    def test_not_what_the_tree_lacks_nor_what_comes_from_it(self, tree: Path, site: Path, load) -> None:
        load("other", site / "other.py")
        load("pkg", tree / "src" / "pkg" / "__init__.py")
        load("pkg.mod", site / "pkg" / "mod.py")
        assert installed_copies(tree, []) == []

    def test_not_what_is_in_no_folder_of_installed_packages(self, tree: Path, load, tmp_path: Path) -> None:
        load("pkg", tmp_path / "elsewhere" / "pkg" / "__init__.py")
        assert installed_copies(tree, []) == []

    def test_not_what_is_allowed(self, tree: Path, site: Path, load) -> None:
        load("pkg", site / "pkg" / "__init__.py")
        assert installed_copies(tree, [site / "pkg"]) == []

    def test_the_message(self) -> None:
        assert str(copies_error("v1", ["pkg (/site-packages/pkg.py)"])) == (
            "--opcost-base=v1: the code under test is an installed copy, which both sides would import:\n"
            "  - pkg (/site-packages/pkg.py)\n"
            "Expected: modules of the repository's own files.\n"
            "Run: pip install --editable . (with tox: package = editable)"
        )


def test_the_repository_itself_is_in_the_tree_and_its_parent_is_not(top: Path) -> None:
    assert in_tree(top, top)
    assert not in_tree(top.parent, top)
