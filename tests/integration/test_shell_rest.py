"""`opcost show`, `report`, `prune` and `machine`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_opcost import saved

from .shelling import MACHINE, TEST, baseline, opcost, results

if TYPE_CHECKING:
    from pathlib import Path

    from .project import Project

Capture = pytest.CaptureFixture[str]


def test_show_a_baseline_and_results(tmp_path: Path, capsys: Capture) -> None:
    said = opcost(capsys, "show", baseline(tmp_path), results(tmp_path / "a.json"), "--top", "2")
    assert said.status == 0
    assert said.out.count(f"{TEST}\n") == 2
    assert "in one session of 5 rounds" in said.told
    assert "measured 2026-11-28, 1 round" in said.told
    assert said.told.count("aten::mkldnn_convolution 1 4,016.0 53.3 %") == 1
    assert "aten::relu" not in said.out
    assert "step 8.25 ms, conv/addmm 4" in said.told


def test_show_a_folder_in_a_line_each(tmp_path: Path, capsys: Capture) -> None:
    long = f"tests/{'deep/' * 20}test_a.py::test_the_end"
    baseline(tmp_path)
    baseline(tmp_path, long)
    said = opcost(capsys, "show", tmp_path)
    assert said.out.splitlines()[0] == MACHINE.machine_key
    assert "deep/test_a.py " in said.out
    assert "\ntest_the_end " in said.out
    assert said.told.count("mkldnn_convolution") == 2
    assert max(map(len, said.out.splitlines())) <= 80


def test_show_a_folder_in_the_order_of_figures(tmp_path: Path, capsys: Capture) -> None:
    for name in ("test_b.py::test_x[64]", "test_b.py::test_x[1]", "test_b.py::test_x[16]", "test_a.py::test_x[4]"):
        baseline(tmp_path, name)
    said = opcost(capsys, "show", tmp_path)
    shown = [line.split()[0] for line in said.out.splitlines()[1:] if line and not line.startswith("-")]
    assert shown == ["test_a.py", "test_x[4]", "test_b.py", "test_x[1]", "test_x[16]", "test_x[64]"]


def test_show_what_torch_printed_says_how_it_is_read(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "table.txt").write_text("-----  -----\nName   Self CPU %\n", "utf-8")
    said = opcost(capsys, "show", tmp_path / "table.txt")
    assert said.status == 2
    assert "is neither a baseline nor a file of results" in said.told
    assert f"opcost import {tmp_path / 'table.txt'}" in said.told


def test_show_goes_on_after_a_damaged_file(tmp_path: Path, capsys: Capture) -> None:
    said = opcost(capsys, "show", tmp_path / "nowhere", baseline(tmp_path))
    assert said.status == 2
    assert TEST in said.out
    assert "nowhere: no such file" in said.told


def test_show_as_a_document(tmp_path: Path, capsys: Capture) -> None:
    said = opcost(capsys, "show", baseline(tmp_path), "--json")
    (shown,) = said.data["shown"]
    assert (shown["test"], shown["rounds"], shown["ratios"]) == (TEST, 5, {"conv/addmm": 4.0})
    assert shown["environment"]["machine"] == MACHINE.machine_key
    assert shown["ops"][0]["samples"] == [4000, 4008, 4016, 4024, 4032]


def test_show_finds_what_a_run_failed_for(project: Project, capsys: Capture) -> None:
    project.record()
    project.lenet(copy_=None)
    project.run("--opcost", "--opcost-json=costs.out")
    said = opcost(capsys, "show", "costs.out")
    assert "drifted - aten::copy_ (copy) is gone" in said.told


def test_a_run_s_json_is_read_back_and_written_the_same(project: Project) -> None:
    project.run("--opcost", "--opcost-json=costs.out")
    path = project.path / "costs.out"
    from pytest_opcost.report.json import write_json

    write_json(project.path / "again.out", saved.load(path))
    assert (project.path / "again.out").read_bytes() == path.read_bytes()


def test_report_writes_what_the_plugin_writes(project: Project, capsys: Capture) -> None:
    for needed in ("jinja2", "matplotlib", "networkx"):
        pytest.importorskip(needed)
    project.run("--opcost", "--opcost-json=costs.out", "--opcost-markdown=own.md")
    said = opcost(capsys, "report", "costs.out", "--html", "page", "--markdown", "later.md")
    assert said.status == 0
    assert said.out == "page: page/index.html\nreport: later.md\n"
    later = (project.path / "later.md").read_text("utf-8")
    assert later.replace("later-pictures", "own-pictures") == (project.path / "own.md").read_text("utf-8")
    assert (project.path / "page" / "index.html").exists()


def test_report_of_several_files(tmp_path: Path, capsys: Capture) -> None:
    for needed in ("jinja2", "matplotlib", "networkx"):
        pytest.importorskip(needed)
    files = results(tmp_path / "a", "a.py::test_a"), results(tmp_path / "b", "b.py::test_b")
    said = opcost(capsys, "report", *files, "--markdown", tmp_path / "report.md", "--json")
    assert said.data == {"tests": 2, "trainings": 0, "reports": [f"report: {tmp_path / 'report.md'}"]}
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "a.py::test\\_a" in text or "test_a" in text
    assert "test_b" in text or "test\\_b" in text


def test_report_needs_to_know_which_and_where(tmp_path: Path, capsys: Capture) -> None:
    file = results(tmp_path / "a")
    assert "--html DIR" in opcost(capsys, "report", file).told
    said = opcost(capsys, "report", file, "--markdown", file / "below.md")
    assert said.status == 2
    assert "Traceback" not in said.err


@pytest.mark.parametrize("option", ["--html=DIR", "--markdown=FILE", "--tensorboard=DIR"])
def test_a_report_that_cannot_be_written_names_the_option_of_this_command(
    tmp_path: Path, capsys: Capture, option: str
) -> None:
    for needed in ("jinja2", "matplotlib", "networkx", "tensorboard"):
        pytest.importorskip(needed)
    file = results(tmp_path / "a")
    said = opcost(capsys, "report", file, option.partition("=")[0], file / "below")
    assert said.status == 2
    assert f"Choose another place with {option}." in said.told


def _prunable(folder: Path) -> dict[str, Path]:
    tests = {
        "there": "tests/test_a.py::TestA::test_there[cpu-1]",
        "gone": "tests/test_a.py::test_gone",
        "file": "tests/test_gone.py::test_it",
        "inherited": "tests/test_b.py::TestB::test_inherited",
        "broken": "tests/test_broken.py::test_it",
    }
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "test_a.py").write_text(
        "class TestA:\n    def test_there(self):\n        model.eval().type(type(model))\n", "utf-8"
    )
    (folder / "tests" / "test_b.py").write_text("from a import A\n\nclass TestB(A):\n    pass\n", "utf-8")
    (folder / "tests" / "test_broken.py").write_text("def test_it(:\n", "utf-8")
    return {name: baseline(folder / "baselines", test) for name, test in tests.items()}


def test_prune_deletes_what_is_surely_gone_and_nothing_else(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = _prunable(tmp_path)

    dry = opcost(capsys, "prune", "--dry-run")
    assert "2 stale, 1 with a test of that name, 2 not known" in dry.told
    why = "left alone that of tests/test_b.py::TestB::test_inherited: test_inherited may come to tests/test_b.py from"
    assert why in " ".join(dry.told.split())
    assert all(path.exists() for path in paths.values())

    said = opcost(capsys, "prune")
    assert said.status == 0
    assert {name for name, path in paths.items() if not path.exists()} == {"gone", "file"}
    assert "tests/test_a.py has no test_gone" in said.told
    assert "tests/test_gone.py is gone" in said.told
    assert "--opcost-prune-baselines" in said.told


@pytest.mark.parametrize(
    "line", ["exec(text)", "setattr(me, name, it)", "globals().update(more)", "type(name, (), {})"]
)
def test_prune_leaves_alone_what_code_may_make(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    gone = _prunable(tmp_path)["gone"]
    with (tmp_path / "tests" / "test_a.py").open("a") as file:
        file.write(f"\n{line}\n")
    assert opcost(capsys, "prune").status == 0
    assert gone.exists()


def test_prune_refuses_where_no_test_is_found_at_all(tmp_path: Path, capsys: Capture) -> None:
    paths = _prunable(tmp_path)
    said = opcost(capsys, "prune", "--baselines", tmp_path / "baselines", "--root", tmp_path / "baselines")
    assert said.status == 2
    assert "Nothing was deleted" in said.told
    assert all(path.exists() for path in paths.values())


def test_prune_as_a_document(tmp_path: Path, capsys: Capture) -> None:
    _prunable(tmp_path)
    said = opcost(capsys, "prune", "--baselines", tmp_path / "baselines", "-n", "--json")
    states = {row["test"].rpartition("::")[2]: row["state"] for row in said.data["baselines"]}
    assert not said.data["deleted"]
    assert states["test_gone"] == "gone"
    assert states["test_inherited"] == "unknown"


def test_machine_tells_the_key_that_baselines_are_kept_under(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, warm_torch: None
) -> None:
    monkeypatch.chdir(tmp_path)
    said = opcost(capsys, "machine", "--device", "cpu", "--threads", "2", "--json")
    (machine,) = said.data["machines"]
    assert machine["machine"].startswith("cpu-")
    assert "2-threads" in machine["machine"]
    assert (machine["threads"], machine["settings"]["threads"], machine["baselines"]) == (2, "2", 0)
    baseline(tmp_path / "baselines")
    (tmp_path / "baselines" / MACHINE.machine_key).rename(tmp_path / "baselines" / machine["machine"])
    told = opcost(capsys, "machine", "--device", "cpu", "--threads", "2").told
    assert f"baselines: 1 in baselines/{machine['machine']}" in told
    assert "torch's minor version" in told
    assert json.dumps(machine["torch"]).strip('"') in told


def test_machine_refuses_what_is_not_there(capsys: Capture, warm_torch: None) -> None:
    assert opcost(capsys, "machine", "--device", "tpu").status == 2
    absent = opcost(capsys, "machine", "--device", "xpu:99")
    assert absent.status == 2
    assert "--device=xpu:99: " in absent.told
    assert "opcost-device" not in absent.told
    assert opcost(capsys, "machine", "--threads", "0").status == 2
