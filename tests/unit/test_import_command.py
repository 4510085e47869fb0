"""`opcost import`: what it writes, prints and refuses."""

from __future__ import annotations

import argparse
import json
from datetime import datetime
from pathlib import Path

import pytest

pytest.importorskip("numpy")

from chrome import annotation, kernel, launch, op, saved
from printed import TORCH_1_4, TORCH_2_STACKS

from pytest_opcost.errors import InputError
from pytest_opcost.imports.files import import_file
from pytest_opcost.imports.known import Known
from pytest_opcost.results import CheckResult
from pytest_opcost.shell import import_

EVENTS = [annotation("ProfilerStep#1", 0, 900), op("aten::mm", 10, 50, 1), launch(20, 5, 7),
          kernel("gemm", 100, 30, **{"External id": 1})]  # fmt: skip


@pytest.fixture
def importing(tmp_path, monkeypatch):
    """Run the command in a folder with `table.txt` and `trace.json.gz`."""
    monkeypatch.chdir(tmp_path)
    Path("table.txt").write_text(TORCH_1_4, encoding="utf-8")
    saved(Path("trace.json.gz"), EVENTS)
    parser = argparse.ArgumentParser("opcost")
    command = parser.add_subparsers().add_parser("import")
    import_.declare(command)
    command.add_argument("--json", action="store_true")

    def run(*args):
        return import_.run(parser.parse_args(["import", *args]))

    return run


def document(name):
    return json.loads(Path(name).read_text(encoding="utf-8"))


def test_results_lie_beside_the_file_and_are_told(importing, capsys):
    assert importing("table.txt") == 0
    assert capsys.readouterr().out == (
        "table.opcost.json: written\n"
        "  table.txt: 4 operators, host 1 ms, conv/addmm 1.83\n"
        "  - read from a printed table that does not tell how many steps it has: all that\n"
        "    it has counts as one\n"
        "  - host time only: the table has no column of the GPU's, though operators ran\n"
        "    on one\n"
        "  - a table does not tell a step's time on the wall: host self times added up\n"
        "    stand for it\n"
        "  - its torch is older than 1.7, whose operators have no namespace: they are\n"
        "    written as today, with aten::\n"
    )
    (test,) = document("table.opcost.json")["tests"]
    assert (test["test"], test["check"], test["verdict"]) == ("table.txt", None, "not_judged")
    assert (test["compared"], test["baseline"], test["findings"]) == (False, "", [])
    assert test["ratios"] == {"conv/addmm": pytest.approx(550 / 300)}
    assert test["environment"]["torch"] == "unknown"


def test_the_document_is_that_of_a_run(importing):
    importing("trace.json.gz")
    found = document("trace.opcost.json")
    assert {"schema", "environment", "tests", "trainings"} <= found.keys()
    assert found["environment"]["machine"] == "cuda-unknown-torchunknown"
    assert found["trainings"] == []
    assert found["tests"][0]["ops"][0]["self_device_us"] == 30.0


def test_a_result_survives_the_way_through_json(importing):
    for name in ("table.txt", "trace.json.gz"):
        (result,) = import_file(Path(name), Known(batch_size=16))
        assert CheckResult.from_data(json.loads(json.dumps(result.to_data(), allow_nan=False))) == result


def test_what_is_there_stays_unless_forced(importing):
    Path("table.opcost.json").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"table\.opcost\.json: this file exists\.\nTo replace it: --force"):
        importing("trace.json.gz", "table.txt")
    assert Path("table.opcost.json").read_text(encoding="utf-8") == "mine"
    assert not Path("trace.opcost.json").exists()
    assert importing("table.txt", "--force") == 0
    assert document("table.opcost.json")["tests"]


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_the_file_itself_is_never_written(importing, force):
    with pytest.raises(InputError, match=r"table\.txt: that is the file to import"):
        importing("table.txt", "-o", "table.txt", *force)
    with pytest.raises(InputError, match="that is the file to import"):
        importing("table.txt", "-o", "../" + Path.cwd().name + "/table.txt", *force)
    assert Path("table.txt").read_text(encoding="utf-8") == TORCH_1_4


def test_several_files_in_one(importing):
    importing("table.txt", "trace.json.gz", "-o", "new/both.json")
    assert [test["test"] for test in document("new/both.json")["tests"]] == ["table.txt", "trace.json.gz"]


def test_two_files_that_would_be_written_at_one_place(importing):
    Path("trace.txt").write_text(TORCH_2_STACKS, encoding="utf-8")
    with pytest.raises(InputError, match=r"trace\.json\.gz and trace\.txt would both be written there"):
        importing("trace.json.gz", "trace.txt")


def test_nothing_is_written_where_one_file_is_damaged(importing):
    Path("bad.json").write_text("[{", encoding="utf-8")
    with pytest.raises(InputError, match="damaged at byte 2"):
        importing("table.txt", "bad.json")
    assert not Path("table.opcost.json").exists()


def test_json_is_printed_and_no_file_written(importing, capsys):
    assert importing("table.txt", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tests"][0]["test"] == "table.txt"
    assert not Path("table.opcost.json").exists()


def test_json_beside_a_file(importing, capsys):
    importing("table.txt", "--json", "-o", "out.json")
    assert json.loads(capsys.readouterr().out) == document("out.json")


def test_what_the_user_knows_is_written(importing):
    importing(
        "table.txt", "--steps", "2", "--batch-size", "16", "--device", "cuda", "--device-name", "GTX 1080 Ti",
        "--torch", "1.4.0", "--threads", "2",
    )  # fmt: skip
    (test,) = document("table.opcost.json")["tests"]
    environment = test["environment"]
    assert (test["steps"], test["batch_size"], test["step_us"]) == (2, 16, 500.0)
    assert (environment["torch"], environment["threads"]) == ("1.4.0", 2)
    assert environment["machine"] == "cuda-gtx-1080-ti-torch1.4"


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5"])
def test_numbers_that_are_none(importing, capsys, value):
    with pytest.raises(SystemExit) as stopped:
        importing("table.txt", f"--steps={value}")
    assert stopped.value.code == 2
    assert f"{value!r} is no number of 1 or more" in capsys.readouterr().err


def test_a_device_that_there_is_not(importing, capsys):
    with pytest.raises(SystemExit) as stopped:
        importing("table.txt", "--device=tpu")
    assert stopped.value.code == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "--device='tpu' is no device that opcost knows. Expected: cpu, cuda, cuda:1" in told


def test_a_place_that_cannot_be_written(importing):
    with pytest.raises(InputError, match=r"table\.txt/out\.json: the results could not be written: "):
        importing("trace.json.gz", "-o", "table.txt/out.json")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.json", "a.opcost.json"),
        ("a/b.pt.trace.json.gz", "a/b.pt.trace.opcost.json"),
        ("report.md", "report.opcost.json"),
        ("profile", "profile.opcost.json"),
        ("v1.2 table.txt", "v1.2 table.opcost.json"),
    ],
)
def test_where_results_lie(name, expected):
    assert import_.beside(Path(name)) == Path(expected)


def test_when_it_was_imported(monkeypatch):
    from pytest_opcost.imports.document import run_of

    assert datetime.fromisoformat(run_of([]).started).tzinfo is not None
