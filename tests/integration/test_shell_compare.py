"""`opcost compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_opcost.shell import comparing

from .shelling import (
    MACHINE,
    OTHER_CHIP,
    OTHER_THREADS,
    OTHER_TORCH,
    TEST,
    baseline,
    opcost,
    results,
)

if TYPE_CHECKING:
    from pathlib import Path

    from .project import Project

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("kinds", ["baseline baseline", "results results", "baseline results", "results baseline"])
def test_the_same_figures_pass_and_a_dearer_operator_drifts(tmp_path: Path, capsys: Capture, kinds: str) -> None:
    def made(kind: str, where: str, **changes: float) -> Path:
        return baseline(tmp_path / where, **changes) if kind == "baseline" else results(tmp_path / where, **changes)

    old, new = kinds.split()
    before, same, dearer = made(old, "a"), made(new, "b"), made(new, "c", addmm=2000.0)

    passed, drifted = opcost(capsys, "compare", before, same), opcost(capsys, "compare", before, dearer)

    assert passed.status == 0
    assert passed.out.endswith("opcost: 1 passed\n")
    assert drifted.status == 1
    assert f"DRIFTED {TEST} aten::addmm +" in drifted.told
    assert "aten::addmm (addmm): " in drifted.told
    assert "conv/addmm: 2, was 4" in drifted.told
    assert drifted.out.endswith("opcost: 1 drifted\n")


def test_an_operator_that_is_gone(tmp_path: Path, capsys: Capture) -> None:
    said = opcost(capsys, "compare", results(tmp_path / "a"), results(tmp_path / "b", relu=None))
    assert said.status == 1
    assert "aten::relu (elementwise) is gone" in said.told


def test_cheaper_passes_unless_that_is_asked_for(tmp_path: Path, capsys: Capture) -> None:
    before, after = baseline(tmp_path / "a"), baseline(tmp_path / "b", _log_softmax=200.0)
    assert opcost(capsys, "compare", before, after).status == 0
    assert opcost(capsys, "compare", before, after, "--fail-on", "drift").status == 1
    assert opcost(capsys, "compare", before, after, "--fail-on", "drift", "--tolerance", "2").status == 0


def test_what_is_within_a_ratio_s_band_passes(tmp_path: Path, capsys: Capture) -> None:
    before, after = baseline(tmp_path / "a"), baseline(tmp_path / "b", relu=1400.0)
    options = ("compare", before, after, "--tolerance", "3", "--ratio", "elementwise/total=0.02")
    assert opcost(capsys, *options).status == 1
    assert opcost(capsys, *options[:-1], "elementwise/total=3").status == 0


def test_folders_are_matched_by_test_and_machine(tmp_path: Path, capsys: Capture) -> None:
    for side in ("a", "b"):
        for test in ("t.py::test_same", "t.py::test_dear"):
            dear = 900.0 if (side, test) == ("b", "t.py::test_dear") else 400.0
            baseline(tmp_path / side, test, _log_softmax=dear)
            baseline(tmp_path / side, test, OTHER_CHIP)
    baseline(tmp_path / "a", "t.py::test_went")
    baseline(tmp_path / "b", "t.py::test_came")

    said = opcost(capsys, "compare", tmp_path / "a", tmp_path / "b")

    assert said.status == 1
    assert said.out.endswith("opcost: 3 passed, 1 drifted\n")
    assert "test_same" not in said.out
    assert said.told.count("DRIFTED t.py::test_dear") == 1
    assert f"only in {tmp_path / 'a'}: t.py::test_went" in said.told
    assert f"only in {tmp_path / 'b'}: t.py::test_came" in said.told
    assert "test_same" in opcost(capsys, "compare", tmp_path / "a", tmp_path / "b", "-v").out


def test_another_torch_on_the_same_machine_is_judged_by_time(tmp_path: Path, capsys: Capture) -> None:
    before = results(tmp_path / "a", environment=OTHER_TORCH)
    said = opcost(capsys, "compare", before, results(tmp_path / "b", addmm=3000.0))
    assert said.status == 1
    assert "torch 2.10.0+cpu" in said.told


def test_on_another_machine_exact_facts_are_compared(tmp_path: Path, capsys: Capture) -> None:
    before = results(tmp_path / "a", environment=OTHER_CHIP)
    dearer, fewer = results(tmp_path / "b", addmm=9000.0), results(tmp_path / "c", relu=None)
    said = opcost(capsys, "compare", before, dearer)
    assert said.status == 0
    assert "exact facts only" in said.told
    assert "1 not judged" in said.out
    assert opcost(capsys, "compare", before, fewer).status == 1


def test_machines_that_do_other_work_cannot_be_compared(tmp_path: Path, capsys: Capture) -> None:
    before = results(tmp_path / "a", environment=OTHER_THREADS)
    said = opcost(capsys, "compare", before, results(tmp_path / "b"))
    assert said.status == 2
    assert "nothing could be compared" in said.told
    assert MACHINE.machine_key in said.told


def test_nothing_in_common_is_misuse(tmp_path: Path, capsys: Capture) -> None:
    before = results(tmp_path / "a", "a.py::test_a", "a.py::test_b")
    said = opcost(capsys, "compare", before, results(tmp_path / "b", "c.py::test_c"))
    assert said.status == 2
    assert "they have no test in common" in said.told


def test_single_tests_are_compared_whatever_they_are_of(tmp_path: Path, capsys: Capture) -> None:
    said = opcost(capsys, "compare", results(tmp_path / "a", "a.py::old"), results(tmp_path / "b", "b.py::new"))
    assert said.status == 0
    assert "another test: a.py::old" in said.told


def test_that_one_measurement_decides_is_said(tmp_path: Path, capsys: Capture) -> None:
    once, often = results(tmp_path / "a"), baseline(tmp_path / "b")
    assert "1 test was judged by fewer than 4 rounds: nothing confirms it" in opcost(capsys, "compare", often, once).out
    assert "fewer than 4 rounds" not in opcost(capsys, "compare", once, often).told


def test_so_it_is_of_several_tests(tmp_path: Path, capsys: Capture) -> None:
    before, after = (results(tmp_path / side, "a.py::test_a", "a.py::test_b") for side in "ab")
    said = opcost(capsys, "compare", before, after)
    assert "2 tests were judged by fewer than 4 rounds: nothing confirms them\n" in said.out


def test_an_asterisk_is_explained_where_one_stands(tmp_path: Path, capsys: Capture) -> None:
    before, same, dearer = baseline(tmp_path / "a"), baseline(tmp_path / "b"), baseline(tmp_path / "c", addmm=2000.0)
    legend = '\n* beyond "noise up to"; "its own" leaves out what all operators did alike\n'
    assert legend in opcost(capsys, "compare", before, dearer).out
    assert "*" not in opcost(capsys, "compare", before, same).out


def test_a_damaged_file_in_a_folder_is_named_and_the_rest_compared(tmp_path: Path, capsys: Capture) -> None:
    for side in ("a", "b"):
        baseline(tmp_path / side)
    (tmp_path / "b" / "broken.yaml").write_text("schema: 2\n", "utf-8")
    said = opcost(capsys, "compare", tmp_path / "a", tmp_path / "b")
    assert said.status == 2
    assert "opcost: 1 passed" in said.out
    assert "broken.yaml: environment: found nothing" in " ".join(said.err.split())


@pytest.mark.parametrize("option", [("--tolerance", "-1"), ("--floor", "x"), ("--ratio", "conv"), ("--fail-on", "no")])
def test_options_that_make_no_sense(tmp_path: Path, capsys: Capture, option: tuple[str, str]) -> None:
    said = opcost(capsys, "compare", results(tmp_path / "a"), results(tmp_path / "b"), *option)
    assert said.status == 2
    assert "Expected: " in said.err


def test_the_document(tmp_path: Path, capsys: Capture) -> None:
    before, after = results(tmp_path / "a", TEST, "x.py::x"), results(tmp_path / "b", TEST, "y.py::y", addmm=2000.0)
    said = opcost(capsys, "compare", before, after, "--json")
    assert said.status == 1
    assert said.data["drifted"]
    (test,) = said.data["tests"]
    assert (test["test"], test["verdict"], test["machine"]) == (TEST, "drifted", MACHINE.machine_key)
    assert {finding["kind"] for finding in test["findings"] if finding["fails"]} == {"operator_dearer", "ratio_drifted"}
    assert [one["test"] for one in said.data["only_in_a"]] == ["x.py::x"]
    assert [one["test"] for one in said.data["only_in_b"]] == ["y.py::y"]


def test_what_a_run_wrote_is_compared_with_the_baselines_it_recorded(project: Project, capsys: Capture) -> None:
    project.record()
    project.run("--opcost", "--opcost-json=same.json")
    project.lenet(addmm=[2000.0, 2])
    project.run("--opcost", "--opcost-json=dear.json")
    assert opcost(capsys, "compare", "baselines", "same.json").status == 0
    said = opcost(capsys, "compare", "same.json", "dear.json")
    assert said.status == 1
    assert "aten::addmm" in said.out


def test_a_large_folder_is_compared_by_several_processes_as_by_one(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        baseline(tmp_path / "a", f"t.py::test_{number}", addmm=1000.0 + number)
        baseline(tmp_path / "b", f"t.py::test_{number}", addmm=2000.0 if number == 3 else 1000.0)
    (tmp_path / "b" / "broken.yaml").write_text("schema: 2\n", "utf-8")
    baseline(tmp_path / "b", "t.py::test_new")
    by_one = opcost(capsys, "compare", tmp_path / "a", tmp_path / "b", "--json")

    monkeypatch.setattr(comparing, "_WORTH_A_PROCESS", 2)
    monkeypatch.setattr(comparing, "cores", lambda: 2)
    started = []
    spread = comparing._spread
    monkeypatch.setattr(comparing, "_spread", lambda *work: started.append(len(work[0])) or spread(*work))
    by_two = opcost(capsys, "compare", tmp_path / "a", tmp_path / "b", "--json")

    assert started == [2]
    assert by_two == by_one
    assert [test["verdict"] for test in by_one.data["tests"]].count("drifted") == 1
    assert len(by_one.data["tests"]) == 6
