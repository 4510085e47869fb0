"""Fresh processes import the base's code although an editable install leads to head's; what a build made is told."""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.base.foreign import unbuilt_modules
from pytest_opcost.base.worktree import checked_out

if TYPE_CHECKING:
    from pathlib import Path

    from .repository import Repository

# As setuptools writes it, short.
_FINDER = """
import sys
from importlib.util import spec_from_file_location
from pathlib import Path

MAPPING = {mapping!r}


class _EditableFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in MAPPING:
            return spec_from_file_location(fullname, Path(MAPPING[fullname], "__init__.py"))


def install():
    sys.meta_path.append(_EditableFinder)
"""

_HEAD = """
import json, sys
from pathlib import Path
from pytest_opcost.base.imports import import_paths
print(json.dumps(import_paths(*map(Path, sys.argv[1:]))))
"""

_BASE = """
import json, sys
from pathlib import Path
sys.path[:0] = json.loads(sys.argv[2])
import pkg, pkg.layers
from pytest_opcost.base.foreign import foreign_modules
print(pkg.COST + pkg.layers.COST, len(foreign_modules(Path(sys.argv[1]), [])))
"""


@pytest.fixture
def package(repository: Repository) -> Repository:
    """A repository with a package whose base (HEAD~1) costs 2 and head 20."""
    for cost in (1, 10):
        repository.write("src/pkg/__init__.py", f"COST = {cost}\n")
        repository.write("src/pkg/layers.py", f"COST = {cost}\n")
        repository.commit(f"Cost {cost} each")
    return repository


@pytest.fixture(params=["pth", "finder"])
def editable(request: pytest.FixtureRequest, package: Repository, tmp_path: Path) -> Path:
    """A folder of installed packages with an editable install of the repository."""
    site = tmp_path / "site-packages"
    site.mkdir()
    if request.param == "pth":
        (site / "pkg.pth").write_text(f"{package.top / 'src'}\n")
    else:
        mapping = {"pkg": str(package.top / "src" / "pkg")}
        (site / "__editable___pkg_finder.py").write_text(_FINDER.format(mapping=mapping))
        (site / "pkg.pth").write_text("import __editable___pkg_finder; __editable___pkg_finder.install()\n")
    return site


def run(site: Path, script: str, *arguments: str) -> str:
    """What a fresh process prints in which `site` is one of the folders of installed packages."""
    command = [sys.executable, "-c", f"import site; site.addsitedir({str(site)!r})\n{script}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_bases_own_code_is_imported(package: Repository, editable: Path) -> None:
    with checked_out(package.top, "HEAD~1") as base:
        paths = run(editable, _HEAD, str(base.top), str(base.path))
        assert json.loads(paths) == [str(base.path / "src")]
        assert run(editable, _BASE, str(base.top), paths) == "2 0\n"
        # Without the paths it would have been head's, and the check says so.
        assert run(editable, _BASE, str(base.top), "[]") == "20 2\n"


def test_what_a_build_made_is_told(package: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    package.write(".gitignore", "*.so\n_version.py\n")
    files = {
        "pkg.ignored": "src/pkg/_version.py",
        "pkg.compiled": "src/pkg/native.so",
        "pkg.new": "src/pkg/new.py",
        "pkg.here": "src/pkg/layers.py",
        "pkg.accent": "src/pkg/é/_version.py",
    }
    for name, file in files.items():
        module = ModuleType(name)
        module.__file__ = str(package.write(file, ""))
        monkeypatch.setitem(sys.modules, name, module)
    with checked_out(package.top, "HEAD~1") as base:
        src = package.top / "src" / "pkg"
        assert unbuilt_modules(base.top, base.path) == [
            f"pkg.accent ({src}/é/_version.py)",
            f"pkg.compiled ({src}/native.so: a compiled extension, which the base's tree has not built)",
            f"pkg.ignored ({src}/_version.py)",
        ]
        (base.path / "src" / "pkg" / "_version.py").touch()
        assert [line.split()[0] for line in unbuilt_modules(base.top, base.path)] == ["pkg.accent", "pkg.compiled"]
