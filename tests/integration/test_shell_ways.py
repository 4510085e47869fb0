"""`opcost` as a whole: its help, what it imports, and that nothing ends in a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_opcost.shell.main import COMMANDS

from .shelling import COMMAND, baseline, opcost, outer_environment, results

if TYPE_CHECKING:
    from .repository import Repository

Capture = pytest.CaptureFixture[str]
NAMES = [command.name for command in COMMANDS]
_HEAVY = "torch torchvision tensorboard matplotlib networkx jinja2"
_IMPORTS = f"""
import sys
from pytest_opcost.shell.main import main
status = main(sys.argv[1:])
print("IMPORTED", sorted(set({_HEAVY.split()!r}) & set(sys.modules)), status)
"""


@pytest.mark.parametrize("command", [[], *([name] for name in NAMES)], ids=["opcost", *NAMES])
def test_help_fits_80_columns_and_has_examples(capsys: Capture, command: list[str]) -> None:
    said = opcost(capsys, *command, "--help")
    assert said.status == 0
    assert max(map(len, said.out.splitlines())) <= 80
    for name in command or NAMES:
        assert name in said.out
    if command:
        assert f"examples:\n  {'pytest' if command == ['report'] else f'opcost {command[0]}'}" in said.out


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["show"], ["compare", "a"], ["show", "x", "--jso"]])
def test_misuse_is_told_in_words(capsys: Capture, arguments: list[str]) -> None:
    said = opcost(capsys, *arguments)
    assert said.status == 2
    assert said.err.startswith("usage: opcost")


def test_the_version(capsys: Capture) -> None:
    assert opcost(capsys, "--version").out.startswith("pytest-opcost ")


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["show", "baselines"], ["compare", "baselines", "new.json"], ["history"], ["prune", "--dry-run"]],
    ids=lambda arguments: arguments[0],
)
def test_what_only_reads_never_imports_torch(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(repository.top)
    baseline(Path("baselines"))
    repository.commit("Record", test_model__py="def test_model(): pass\n")
    results(Path("new.json"))
    answer = subprocess.run(
        [sys.executable, "-c", _IMPORTS, *arguments], capture_output=True, text=True, check=False,
        env=outer_environment(),
    )  # fmt: skip
    assert answer.stdout.endswith("IMPORTED [] 0\n"), answer.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"\0\1\2\xff\xfe", "is no text (byte 3)"),
        (b"\0\1\2\3", "is neither a baseline nor a file of results"),
        (b"hello", "is neither a baseline nor a file of results"),
        (b"a: [1, 2", "is neither a baseline nor a file of results"),
        (b"schema: 2\n\0\1\2\3", "is no valid YAML"),
        (b"schema: 2\na: [1, 2", "is no valid YAML"),
        (b"schema: 1\n", "schema: found 1"),
        (b"schema: 2\nschema: 2\n", "stands twice"),
        (b"schema: " + b"9" * 5000, "is no valid YAML"),
        (b"schema: 2\na: " + b"[" * 50_000, "is no valid YAML"),
        (b'{"schema": 1, "tests": [', "is no valid JSON"),
        (b'{"schema": 2, "tests": []}', "schema: found 2"),
        (b'{"traceEvents": []}', "is a trace of a profiler"),
        (b'{"a": []}', "holds no results"),
        (b"[]", "is neither a baseline nor a file of results"),
    ],
)
@pytest.mark.parametrize("command", ["show", "compare"])
def test_damaged_files(tmp_path: Path, capsys: Capture, command: str, content: bytes, told: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    said = opcost(capsys, command, *([path] if command == "show" else [path, path]))
    assert said.status == 2
    assert said.err.startswith("opcost:")
    assert told in said.told


@pytest.mark.parametrize("number", ["1e300", "1" + "0" * 400, "-1", ".nan", "1e24", "true"])
def test_numbers_that_no_cost_has(tmp_path: Path, capsys: Capture, number: str) -> None:
    path = baseline(tmp_path)
    path.write_text(path.read_text("utf-8").replace("self_host_us: 4016", f"self_host_us: {number}"), "utf-8")
    said = opcost(capsys, "compare", path, path)
    assert said.status == 2
    assert "ops[0].self_host_us: found" in said.told


def test_the_largest_numbers_are_compared_without_a_word_of_complaint(tmp_path: Path, capsys: Capture) -> None:
    before = results(tmp_path / "a")
    after = results(tmp_path / "b", addmm=9e23, mkldnn_convolution=1e-300)
    assert opcost(capsys, "compare", before, after).status == 1
    assert opcost(capsys, "compare", after, before, "--json").status in (0, 1)
    assert opcost(capsys, "show", after).status == 0


def test_files_that_cannot_be_read(tmp_path: Path, capsys: Capture) -> None:
    assert "no such file" in opcost(capsys, "show", tmp_path / "nowhere").told
    assert "no baseline below" in opcost(capsys, "show", tmp_path).told
    assert "is a device" in opcost(capsys, "show", "/dev/null").told
    assert "cannot be read: Is a directory" in opcost(capsys, "report", tmp_path, "--html", tmp_path / "x").told


def _apart(*arguments: str | Path, **how: Any) -> subprocess.CompletedProcess[str]:
    """`python -m pytest_opcost ARGUMENTS` in a process of its own."""
    settings: dict[str, Any] = {"stdout": subprocess.PIPE, "env": outer_environment(), **how}
    return subprocess.run([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True, check=False, **settings)


def test_names_that_are_no_text_are_escaped(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.json")
    results(tmp_path / name, "test_größe.py::test_µ")
    answer = _apart("show", tmp_path / name, tmp_path / "nö", env=outer_environment(PYTHONIOENCODING="ascii"))
    assert "test_gr\\xf6\\xdfe.py" in answer.stdout
    assert "n\\xf6:" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    path = results(tmp_path / "many.json", *(f"test_a.py::test_{number}" for number in range(300)))
    command = f"'{sys.executable}' -m pytest_opcost show '{path}' | head -1"
    for closed in (command, command.replace("| head -1", ">&-"), command.replace("| head -1", "2>&- | head -1")):
        answer = subprocess.run(
            closed, shell=True, capture_output=True, text=True, check=False,
            env=outer_environment(),
        )  # fmt: skip
        assert answer.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        answer = _apart("show", results(tmp_path / "a"), stdout=full)
    assert answer.returncode == 2
    assert answer.stderr == "opcost: [Errno 28] No space left on device\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_ctrl_c(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    process = subprocess.Popen(
        [*COMMAND, "show", tmp_path / "pipe"], stderr=subprocess.PIPE, text=True,
        env=outer_environment(),
    )  # fmt: skip
    with process:
        writer = os.open(tmp_path / "pipe", os.O_WRONLY)  # returns once the other side reads
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        os.close(writer)
    assert (process.returncode, err) == (130, "opcost: interrupted\n")
