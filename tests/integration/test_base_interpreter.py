"""What another interpreter is and lacks, found out by running it once."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.base import interpreter as interpreter_room
from pytest_opcost.base.interpreter import Interpreter, inspect_interpreter
from pytest_opcost.errors import BaseError

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the interpreters are shell scripts")

ALL = {
    "torch": "2.11.0+cu128",
    "pytest": "9.0.1",
    "pyyaml": "6.0",
    "numpy": "2.1",
    "tabulate": "0.9",
    "torchvision": "1",
}
MODULES = {"pyyaml": "yaml"}
PYTHON = ".".join(map(str, sys.version_info[:3]))


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., Path]:
    """Makes an interpreter: this one, with nothing installed but the distributions that are given, as empty modules."""

    def python(**versions: str) -> Path:
        site = tmp_path / "its site"
        for name, version in versions.items():
            (site / f"{name}-{version}.dist-info").mkdir(parents=True)
            metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            (site / f"{name}-{version}.dist-info" / "METADATA").write_text(metadata)
            (site / f"{MODULES.get(name, name)}.py").write_text("raise AssertionError('it was imported')\n")
        # -S: no site-packages. The path is set in the place of PYTHONPATH, which the caller's environment decides.
        return script(tmp_path, f'PYTHONPATH="{site}${{PYTHONPATH:+:$PYTHONPATH}}" exec "{sys.executable}" -S "$@"')

    return python


def script(folder: Path, text: str) -> Path:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(BaseError) as caught:
        inspect_interpreter(path)
    return str(caught.value)


@pytest.fixture(autouse=True)
def _no_python_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)


def test_it_says_what_it_is(python: Callable[..., Path]) -> None:
    path = python(**ALL)
    assert inspect_interpreter(path) == Interpreter(path, PYTHON, "2.11.0+cu128", ())


def test_what_only_some_tests_need_may_be_missing(python: Callable[..., Path]) -> None:
    path = python(**{name: version for name, version in ALL.items() if name != "torchvision"})
    assert inspect_interpreter(path).missing == ("torchvision",)


def test_a_torch_that_was_not_installed_has_no_version(python: Callable[..., Path], tmp_path: Path) -> None:
    path = python(**{name: version for name, version in ALL.items() if name != "torch"})
    (tmp_path / "its site" / "torch.py").touch()
    assert inspect_interpreter(path).torch == "unknown"


def test_everything_that_is_missing_is_told_at_once(python: Callable[..., Path]) -> None:
    path = python(torch="2.3.1", numpy="2.1", tabulate="0.9", pytest="7.4.4")
    assert refusal(path) == (
        f"--opcost-base-python={path} (Python {PYTHON}) lacks what the tests are measured with.\n"
        "Found: torch 2.3.1, pytest 7.4.4, no pyyaml.\n"
        f'Run: {path} -m pip install "torch>=2.4" "pytest>=8" "pyyaml>=6"'
    )


@pytest.mark.parametrize("name", ["torch", "pytest", "pyyaml", "numpy", "tabulate"])
def test_each_is_needed(python: Callable[..., Path], name: str) -> None:
    path = python(**{other: version for other, version in ALL.items() if other != name})
    assert f"\nFound: no {name}.\n" in refusal(path)


def test_the_current_folder_is_not_searched(
    python: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = python(**{name: version for name, version in ALL.items() if name != "torch"})
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "torch.py").touch()
    (tmp_path / "repository" / "json.py").write_text("raise AssertionError('the wrong one')\n")
    monkeypatch.chdir(tmp_path / "repository")
    assert "Found: no torch." in refusal(path)


def test_the_users_python_path_is_searched(
    python: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = python(**{name: version for name, version in ALL.items() if name != "torch"})
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "torch.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "more"))
    assert inspect_interpreter(path).torch == "unknown"


def test_settings_of_this_interpreter_are_not_for_the_other(
    python: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    assert inspect_interpreter(python(**ALL)).python == PYTHON


def test_what_it_prints_at_its_start_does_not_matter(python: Callable[..., Path], tmp_path: Path) -> None:
    python(**ALL).rename(tmp_path / "quiet")
    path = script(tmp_path, f'echo hello; "{tmp_path}/quiet" "$@"; echo bye')
    assert inspect_interpreter(path).python == PYTHON


def test_a_command_on_the_path(python: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = python(**ALL).rename(python().with_name("python-of-mine"))
    monkeypatch.setenv("PATH", str(path.parent), prepend=os.pathsep)
    assert inspect_interpreter(Path("python-of-mine")).path == path


def test_a_relative_path_and_a_link_that_is_kept(
    python: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "link").symlink_to(python(**ALL))
    monkeypatch.chdir(tmp_path)
    assert inspect_interpreter(Path("bin/link")).path == tmp_path / "bin" / "link"


def test_home_is_understood(python: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python(**ALL)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert inspect_interpreter(Path("~/python")).path == tmp_path / "python"


def test_an_old_python(tmp_path: Path) -> None:
    path = script(tmp_path, """echo 'pytest-opcost:{"python": "2.7.18", "found": {}}'""")
    assert refusal(path) == f"--opcost-base-python={path} is Python 2.7.18.\nExpected: Python 3.10 or newer."


def test_no_such_file(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none").startswith(f"--opcost-base-python={tmp_path / 'none'} does not exist.\nExpected")


def test_a_folder(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"--opcost-base-python={tmp_path} is a folder.\nExpected: a Python interpreter."
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    assert refusal(tmp_path).endswith(f"\nGive the interpreter: --opcost-base-python={tmp_path}/bin/python")


def test_a_file_that_is_not_executable(tmp_path: Path) -> None:
    (tmp_path / "python").touch()
    assert refusal(tmp_path / "python") == (
        f"--opcost-base-python={tmp_path}/python is not executable.\n"
        f"Expected: a Python interpreter.\nRun: chmod +x {tmp_path}/python"
    )


def test_a_file_that_cannot_be_run(tmp_path: Path) -> None:
    path = script(tmp_path, "")
    path.write_bytes(b"\x7fELF nonsense")
    assert refusal(path).startswith(f"--opcost-base-python={path} cannot be run: Exec format error.\n")


@pytest.mark.parametrize(
    ("does", "found"),
    [
        ("echo one; echo 'no such option: -c' >&2; exit 2", 'it ended with status 2 and said "no such option: -c"'),
        ("echo hello", 'it ended with status 0 and said "hello"'),
        ("exit 0", "it said nothing"),
    ],
)
def test_something_else_than_a_python(tmp_path: Path, does: str, found: str) -> None:
    path = script(tmp_path, does)
    assert refusal(path) == (
        f"--opcost-base-python={path} is not a Python interpreter that runs: {found}.\nExpected: a Python interpreter."
    )


def test_one_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter_room, "_TIMEOUT_S", 0.2)
    path = script(tmp_path, "exec sleep 60")
    assert "did not answer within 0 s" in refusal(path)
