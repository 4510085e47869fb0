from __future__ import annotations

import pytest
from exports import both, drifted, nasty
from made_up import made_up_result, made_up_run
from records import result

pytest.importorskip("matplotlib")  # of the Markdown report, whose tables it shares

from pytest_opcost.report.github.step_summary import LIMIT, append_summary, step_summary


def test_what_failed_comes_first_with_cause_and_command():
    lines = list(step_summary(made_up_run(made_up_result("tests/test_b.py::test_b", 1), drifted())))
    assert lines[0] == "## opcost: 1 passed, 1 drifted"
    rows = [line for line in lines if line.startswith("| `")]
    assert [row.split(" | ")[1].strip() for row in rows] == ["drifted", "passed"]
    assert "- another kernel: gemm" in lines
    assert lines[-4:-1] == [
        "What is meant is accepted by recording it:", "",
        '- `pytest "tests/test_a.py::test_step[cpu-16]" --opcost-update-baselines`',
    ]  # fmt: skip


def test_names_are_text_whatever_is_in_them():
    (row,) = (line for line in step_summary(made_up_run(nasty("a.py::t[|<b>]", "x\n## y"))) if "a.py" in line)
    assert row.startswith("| `a.py::t[\\|<b>] (x ## y)` | passed ")


def test_what_went_wrong_with_the_run():
    lines = list(step_summary(made_up_run(), ["nothing was judged.\nExpected: *one*"]))
    assert lines == ["## opcost: nothing judged", "", "**ERROR**: nothing was judged. Expected: \\*one\\*", ""]


def test_a_run_without_checks_has_no_summary(tmp_path):
    assert list(step_summary(made_up_run())) == []
    append_summary(tmp_path / "summary", step_summary(made_up_run()))
    assert not (tmp_path / "summary").exists()


def test_it_is_appended(tmp_path):
    path = tmp_path / "summary"
    path.write_text("before\n", encoding="utf-8")
    append_summary(path, step_summary(both()))
    text = path.read_text("utf-8")
    assert text.startswith("before\n## opcost: ")


@pytest.mark.parametrize("before", [0, 400_000, LIMIT - 200])
def test_it_never_grows_beyond_what_github_shows(tmp_path, before):
    path = tmp_path / "summary"
    path.write_bytes(b"x" * before)
    checks = [result(test=f"a.py::t[{'x' * 5000}{index}]") for index in range(300)]
    append_summary(path, step_summary(made_up_run(*checks)))
    text = path.read_bytes()
    assert before < len(text) <= LIMIT
    assert text.endswith(b"the rest is left out here, and is in the step's output.\n")
    assert b"## opcost: 300 passed" in text[before:]


def test_where_there_is_no_room_nothing_is_written(tmp_path):
    path = tmp_path / "summary"
    path.write_bytes(b"x" * LIMIT)
    append_summary(path, step_summary(made_up_run(result())))
    assert path.stat().st_size == LIMIT
