"""A damaged baseline fails its test with one message that names file, field and mend; the file stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .project import failure, told

if TYPE_CHECKING:
    from pathlib import Path

    from .project import Project

_CONFLICT = "<<<<<<< ours\nrecorded: '2026-01-01'\n=======\nrecorded: '2026-02-02'\n>>>>>>> theirs\n"


def _replaced(old: str, new: str):
    def damage(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return damage


@pytest.fixture
def baseline(project: Project) -> Path:
    (path,) = project.record()
    return path


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda text: "", "is empty."),
        (lambda text: "# a comment only\n", "is empty."),
        (lambda text: "just words\n", "the document: found text ('just words')."),
        (lambda text: "- a\n- b\n", "the document: found a list."),
        (lambda text: text[: len(text) // 2], ""),
        (lambda text: text.replace("recorded: ", _CONFLICT + "recorded: ", 1), "is in the midst of a merge: "),
        (lambda text: text + "ops: []\n", "is no valid YAML, line "),
        (lambda text: text + "\tmore: 1\n", "is no valid YAML, line "),
        (lambda text: text + "evil: !!python/object/apply:os.system ['touch hacked']\n", "is no valid YAML, line "),
        (_replaced("schema: 2", "schema: 3"), "schema: found 3."),
        (_replaced("schema: 2", "schema: one"), "schema: found 'one'."),
        (_replaced("schema: 2\n", ""), "schema: found nothing."),
        (_replaced("ops:\n", "operators:\n"), "ops: found nothing."),
        (lambda text: text.partition("ops:\n")[0] + "ops: []\n", "ops: found a list."),
        (lambda text: text.partition("ops:\n")[0] + "ops: {}\n", "ops: found a mapping."),
        (lambda text: text.partition("ops:\n")[0] + "ops: [1]\n", "ops[0]: found 1."),
        (_replaced("calls: 1, ", ""), "ops[1].calls: found nothing."),
        (_replaced("calls: 1, ", "calls: 1.5, "), "ops[1].calls: found 1.5."),
        (_replaced("calls: 1, ", "calls: -1, "), "ops[1].calls: found -1."),
        (_replaced("calls: 1, ", "calls: yes, "), "ops[1].calls: found a yes/no (True)."),
        (_replaced("self_host_us: 2000,", "self_host_us: many,"), "ops[1].self_host_us: found text ('many')."),
        (_replaced("self_host_us: 2000,", "self_host_us: .nan,"), "ops[1].self_host_us: found nan."),
        (_replaced("self_host_us: 2000,", "self_host_us: .inf,"), "ops[1].self_host_us: found inf."),
        (_replaced("self_host_us: 2000,", f"self_host_us: 1{'0' * 400},"), "ops[1].self_host_us: found "),
        (_replaced("share: 0.2,", "share: [0.2],"), "ops[1].share: found a list."),
        (_replaced("'aten::gelu'", "'aten::addmm'"), "ops[4].op: found aten::addmm, a second time."),
        (_replaced("samples: [4000, ", "samples: [x, "), "ops[0].samples[0]: found text ('x')."),
        (_replaced("samples: [4000, ", "samples: [-1, "), "ops[0].samples[0]: found -1."),
        (_replaced("value: 4.0", "value: 0"), "ratios.conv/addmm.value: found 0."),
        (_replaced("value: 4.0, ", ""), "ratios.conv/addmm.value: found nothing."),
        (_replaced("torch: 2.9.1+cpu, ", ""), "environment.torch: found nothing."),
        (_replaced("threads: 1,", "threads: two,"), "environment.threads: found text ('two')."),
        (_replaced("wall_us: 11000", "wall_us: null"), "step.wall_us: found nothing."),
        (_replaced("recorded: ", "recorded: null #"), "recorded: found nothing."),
        (_replaced("recorded: '20", "recorded: 2026-02-30 # '20"), "is no valid YAML"),
        (_replaced("cold: {", "cold: [{"), "is no valid YAML, line "),
    ],
    ids=[
        "empty", "comment", "text", "list", "half", "conflict", "key twice", "tab", "python tag", "newer schema",
        "schema text", "no schema", "no ops", "ops empty", "ops mapping", "ops number", "no calls", "calls fraction",
        "calls negative", "calls bool", "cost text", "cost nan", "cost inf", "cost huge", "share list", "op twice",
        "sample text", "sample negative", "ratio zero", "ratio empty", "no torch", "threads text", "wall null",
        "recorded null", "no such day", "bracket",
    ],
)  # fmt: skip
def test_a_damaged_file_fails_its_test_with_one_message(project: Project, baseline: Path, damage, found: str) -> None:
    text = damage(baseline.read_text())
    baseline.write_text(text)

    result = project.run("--opcost")

    result.assert_outcomes(failed=1)
    message, shown = failure(result), baseline.relative_to(project.path)
    assert message.startswith(f"pytest_opcost.errors.BaselineError: {shown}: {found}")
    assert f"FAILED test_model.py::test_model - {shown.parent}" in result.stdout.str()
    assert "\nExpected: " in message
    assert f"git checkout {'--ours ' if 'in the midst' in found else ''}-- {shown}" in message
    assert ", or record it anew with --opcost-update-baselines" in message
    assert "storage.py" not in result.stdout.str()
    assert "fields.py" not in result.stdout.str()
    assert "INTERNALERROR" not in result.stdout.str()
    assert baseline.read_text() == text
    assert not (project.path / "hacked").exists()


def test_no_utf8(project: Project, baseline: Path) -> None:
    baseline.write_bytes(b"schema: 1\ntest: \xff\xfe\n")

    message = failure(project.run("--opcost"))

    assert f"BaselineError: {baseline.relative_to(project.path)}: is no UTF-8 text (byte 16)." in message
    assert baseline.read_bytes() == b"schema: 1\ntest: \xff\xfe\n"


def test_a_folder_in_its_place(project: Project, baseline: Path) -> None:
    baseline.unlink()
    baseline.mkdir()

    assert f"BaselineError: {baseline.relative_to(project.path)}: is a folder." in failure(project.run("--opcost"))


def test_only_the_test_of_the_damaged_file_fails(project: Project) -> None:
    project.checks("test_one", "test_two")
    files = project.record()
    damaged = next(path for path in files if "test_one" in path.name)
    damaged.write_text("")

    project.run("--opcost").assert_outcomes(passed=2, failed=1)


def test_update_missing_does_not_take_a_damaged_file_for_a_missing_one(project: Project, baseline: Path) -> None:
    baseline.write_text("")

    project.run("--opcost-update-missing").assert_outcomes(failed=1)

    assert baseline.read_text() == ""


def test_update_baselines_replaces_it_and_says_so(project: Project, baseline: Path) -> None:
    before = baseline.read_text()
    baseline.write_text("schema: 1\nops: [\n")

    result = project.run("--opcost-update-baselines")

    result.assert_outcomes(passed=1)
    assert "replaces a damaged baseline" in told(result)
    assert baseline.read_text() == before


def test_another_machines_damaged_file_is_named_too(project: Project, baseline: Path) -> None:
    baseline.write_text("")
    project.costs(machine="Chip B")

    assert f"BaselineError: {baseline.relative_to(project.path)}: is empty." in failure(project.run("--opcost"))


def test_a_file_saved_on_windows_is_read(project: Project, baseline: Path) -> None:
    baseline.write_bytes(b"\xef\xbb\xbf" + baseline.read_bytes().replace(b"\n", b"\r\n"))

    project.run("--opcost").assert_outcomes(passed=1)


def test_what_a_reviewer_adds_does_no_harm(project: Project, baseline: Path) -> None:
    baseline.write_text(f"# Checked by hand.\n{baseline.read_text()}note: fine\n")

    project.run("--opcost").assert_outcomes(passed=1)
