"""Every kind of damage to a baseline file ends in one error that says what is wrong, where, and how to mend it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from records import baseline, op, profile

from pytest_opcost import rendering, storage
from pytest_opcost.costs import ColdStep
from pytest_opcost.errors import BaselineError
from pytest_opcost.facts import OpFacts, Place

FACTS = OpFacts((("f32[2]", 2),), 200, (("mkl sgemm", 3),), 1, 64, (Place("forward", "fc1"),), ("syncs",))
COST = profile(
    op("aten::conv2d", 500, samples=(500, 510)),
    op("aten::mm", 250, forward=0.5, samples=(250, 240), facts=FACTS),
)
COLD = ColdStep(9.0, 8.0, 7.0, (("aten::mm", 6.0, 5.0),))
GOOD = rendering.render(baseline(replace(COST, cold=COLD), check="encoder"), 10)


def refused(path):
    """The message of the one error that the file ends in; the file is still what it was."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(BaselineError) as caught:
        storage.load(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\nExpected: " in text
    assert ": None" not in text
    assert text.endswith(f"\nRestore it (git checkout -- {path}), or record it anew with --opcost-update-baselines.")
    assert (path.read_bytes() if path.is_file() else None) == before
    return text.removeprefix(f"{path}: ")


def damaged(tmp_path, old, new):
    assert old in GOOD, f"the damage {old!r} -> {new!r} would not be done"
    path = tmp_path / "a.yaml"
    path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    return refused(path)


def test_the_undamaged_file_is_fine(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(GOOD, encoding="utf-8")
    assert storage.load(path).check == "encoder"


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("schema: 2", "schema: 3", "schema: found 3"),
        ("schema: 2", "schema: one", "schema: found 'one'"),
        ("threads: 1,", "threads: 1.5,", "environment.threads: found 1.5"),
        ("threads: 1,", "threads: many,", "environment.threads: found text ('many')"),
        ("device: cpu", "device: null", "environment.device: found nothing"),
        ("torch: 2.11.0+cpu", "torch: [2, 11]", "environment.torch: found a list"),
        ("mkldnn: 'on'", "mkldnn: on", "settings.mkldnn: found a yes/no (True)"),
        ("details: {", "details: [", None),
        ("steps: 30", "steps: -30", "step.steps: found -30"),
        ("wall_us: 1234", "wall_us: fast", "step.wall_us: found text ('fast')"),
        ("wall_us: 1234", "wall_us: .nan", "step.wall_us: found nan"),
        ("wall_us: 1234", "wall_us: .inf", "step.wall_us: found inf"),
        ("wall_us: 1234", f"wall_us: 1{'0' * 400}", "step.wall_us: found 1000"),
        ("total_host_us: 750", "total_host_us: -750", "step.total_host_us: found -750"),
        ("load: 0.0", "load: [0]", "step.load: found a list"),
        ("wall_us: 9.0", "wall_us: -9.0", "cold.wall_us: found -9.0"),
        ("[6.0, 5.0]", "[6.0]", "cold.ops.aten::mm: found 1 numbers"),
        ("[6.0, 5.0]", "6.0", "cold.ops.aten::mm: found 6.0"),
        ("rounds: 2", "rounds: 0", "sessions[0].rounds: found 0"),
        ("rounds: 2", "rounds: -2", "sessions[0].rounds: found -2"),
        ("rounds: 2", "rounds: 1.5", "sessions[0].rounds: found 1.5"),
        ("rounds: 2", "rounds: some", "sessions[0].rounds: found text ('some')"),
        ("- {recorded: '2026-11-27', rounds: 2, load: 0.0}", "- yesterday", "sessions[0]: found text ('yesterday')"),
        ("sessions:\n  - {recorded: '2026-11-27', rounds: 2, load: 0.0}", "sessions: []", "sessions: found a list"),
        ("rounds: 2, load: 0.0", "rounds: 2, load: .nan", "sessions[0].load: found nan"),
        ("value: 2.0", "value: 0", "ratios.conv/addmm.value: found 0"),
        ("value: 2.0", "value: .nan", "ratios.conv/addmm.value: found nan"),
        ("spread: 0.0123", "spread: wide", "ratios.conv/addmm.spread: found text ('wide')"),
        ("conv/addmm: {value: 2.0, spread: 0.0123}", "conv/addmm: 2.0", "ratios.conv/addmm: found 2.0"),
        ("calls: 1", "calls: 1.5", "ops[0].calls: found 1.5"),
        ("calls: 1", "calls: once", "ops[0].calls: found text ('once')"),
        ("self_host_us: 500.0", "self_host_us: -500", "ops[0].self_host_us: found -500"),
        ("self_device_us: 0.0", "self_device_us: .nan", "ops[0].self_device_us: found nan"),
        ("share: 0.6667", "share: most", "ops[0].share: found text ('most')"),
        ("forward: 0.5", "forward: half", "ops[1].forward: found text ('half')"),
        ("samples: [500.0, 510.0]", "samples: 500", "ops[0].samples: found 500"),
        ("samples: [500.0, 510.0]", "samples: [500, .inf]", "ops[0].samples[1]: found inf"),
        ("{op: 'aten::mm'", "{op: 'aten::conv2d'", "ops[1].op: found aten::conv2d, a second time"),
        ("{op: 'aten::mm'", "{op: ''", "ops[1].op: found text ('')"),
        ("  - {op: 'aten::mm'", "  - aten::mm\n  - {op: 'aten::mm'", "ops[1]: found text ('aten::mm')"),
        ("forward: 0.5", "forward: 0.5, varying: sometimes", "ops[1].varying: found text ('sometimes')"),
        ("flops: 200", "flops: many", "facts.aten::mm.flops: found text ('many')"),
        ("flops: 200", "flops: 0.5", "facts.aten::mm.flops: found 0.5"),
        ("flops: 200", "flops: .inf", "facts.aten::mm.flops: found inf"),
        ("alloc_bytes: 64", "alloc_bytes: -64", "facts.aten::mm.alloc_bytes: found -64"),
        ("syncs: 1", "syncs: [1]", "facts.aten::mm.syncs: found a list"),
        ("kernels: {mkl sgemm: 3}", "kernels: mkl sgemm", "facts.aten::mm.kernels: found text ('mkl sgemm')"),
        ("mkl sgemm: 3", "mkl sgemm: often", "facts.aten::mm.kernels.mkl sgemm: found text ('often')"),
        ("mkl sgemm: 3", "mkl sgemm: 0.5", "facts.aten::mm.kernels.mkl sgemm: found 0.5"),
        ("mkl sgemm: 3", "1: 3", "facts.aten::mm.kernels.1: found nothing"),
        ("inputs: {'f32[2]': 2}", "inputs: ['f32[2]']", "facts.aten::mm.inputs: found a list"),
        ("'f32[2]': 2", "'f32[2]': null", "facts.aten::mm.inputs.f32[2]: found nothing"),
        ("varying: [syncs]", "varying: true", "facts.aten::mm.varying: found a yes/no (True)"),
        ("varying: [syncs]", "varying: [1]", "facts.aten::mm.varying: found a list"),
        ("at: [forward fc1]", "at: forward fc1", "facts.aten::mm.at: found text ('forward fc1')"),
        ("at: [forward fc1]", "at: [[forward]]", "facts.aten::mm.at: found a list"),
        ("facts:\n", "facts: none\nmore:\n", "facts: found text ('none')"),
        ("  aten::mm: {flops", "  aten::mm: 3\n  other: {flops", "facts.aten::mm: found 3"),
    ],
)
def test_a_wrong_value(tmp_path, old, new, field):
    assert damaged(tmp_path, old, new).startswith(field or "is no valid YAML, line 1")


def test_a_file_of_the_first_schema_is_to_be_recorded_anew(tmp_path):
    path = tmp_path / "a.yaml"
    old = GOOD.replace("schema: 2", "schema: 1").replace(
        "sessions:\n  - {recorded: '2026-11-27', rounds: 2, load: 0.0}\n", ""
    )
    assert "sessions" not in old
    path.write_text(old, encoding="utf-8")
    told = refused(path)  # which ends with the command that records it anew
    assert told.startswith("schema: found 1.\nExpected: 2, the schema of this version of pytest-opcost")


def removed(*path):
    document = yaml.safe_load(GOOD)
    inner = document
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return yaml.safe_dump(document)


def test_a_misspelt_field_is_named(tmp_path):
    assert damaged(tmp_path, "share:", "shre:").startswith("ops[0].share: found nothing, but shre.")


def test_rounds_that_are_not_as_many_as_the_samples(tmp_path):
    text = damaged(tmp_path, "rounds: 2", "rounds: 3")
    assert text.startswith("sessions: found 3 rounds in all, and operators with 2 samples.\nExpected: as many of both.")


@pytest.mark.parametrize(
    "path",
    [
        *((name,) for name in ("schema", "test", "recorded", "environment", "settings", "details", "step", "ratios")),
        *(("environment", name) for name in ("device", "device_name", "capability", "torch", "threads", "allocator")),
        *(("step", name) for name in ("steps", "wall_us", "total_host_us", "total_device_us", "load")),
        ("sessions",),
        *(("sessions", 0, name) for name in ("recorded", "rounds", "load")),
        *(("cold", name) for name in ("wall_us", "host_us", "device_us", "ops")),
        *(("ratios", "conv/addmm", name) for name in ("value", "spread")),
        *(("ops", 1, name) for name in ("op", "family", "calls", "self_host_us", "self_device_us", "share")),
        ("ops",),
    ],
    ids=lambda path: ".".join(map(str, path)),
)  # fmt: skip
def test_a_missing_field(tmp_path, path):
    file = tmp_path / "a.yaml"
    file.write_text(removed(*path), encoding="utf-8")
    shown = ".".join(map(str, path)).replace("ops.1", "ops[1]").replace("sessions.0", "sessions[0]")
    assert refused(file).startswith(f"{shown}: found nothing.\nExpected: a value: the field is missing")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("# nothing but a comment\n", "is empty"),
        ("- schema: 1\n", "the document: found a list"),
        ("schema", "the document: found text ('schema')"),
        ("{", "is no valid YAML, line "),
        ("schema: 1\n\tx: 2\n", "is no valid YAML, line 2: "),
        ("schema: \x00", "is no valid YAML"),
        ("schema: 1\nschema: 1\n", "is no valid YAML, line 2: the key 'schema' stands twice"),
        ("schema: 1\nstep: {a: 1, b: 2, a: 3}\n", "is no valid YAML, line 2: the key 'a' stands twice"),
        ("schema: 1\nx: {[1]: 2}\n", "is no valid YAML, line 2: found unhashable key"),
        ("schema: 1\nrecorded: 2026-13-45\n", "is no valid YAML"),
        ("schema: !!int one\n", "is no valid YAML"),
        ("schema: 1\n---\nschema: 1\n", "is no valid YAML"),
    ],
)
def test_no_document(tmp_path, text, told):
    path = tmp_path / "a.yaml"
    path.write_bytes(text.encode())
    assert refused(path).startswith(told)


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system", "!!python/object/new:os.system", "!exec"])
def test_a_tag_that_asks_for_an_object_does_not_run(tmp_path, tag):
    mark = tmp_path / "it-ran"
    text = damaged(tmp_path, "schema: 2", f"schema: {tag} ['touch {mark}']")
    assert text.startswith("is no valid YAML, line 3: could not determine a constructor for the tag")
    assert not mark.exists()


def test_a_folder(tmp_path):
    path = tmp_path / "a.yaml"
    path.mkdir()
    assert refused(path).startswith("is a folder.")


def test_an_error_of_the_system_without_words_of_its_own(tmp_path, monkeypatch):
    def odd(*_, **__):
        raise OSError("odd disk")

    monkeypatch.setattr(Path, "read_text", odd)
    assert refused(tmp_path / "a.yaml").startswith("cannot be read: odd disk.")


def test_no_file(tmp_path):
    assert refused(tmp_path / "a.yaml").startswith("cannot be read: No such file or directory.")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(GOOD, encoding="utf-8")
    path.chmod(0)
    with pytest.raises(BaselineError, match="cannot be read: Permission denied"):
        storage.load(path)


def test_no_utf_8(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"test: gr\xf6\xdfe\n")
    assert refused(path).startswith("is no UTF-8 text (byte 8).")


@pytest.mark.parametrize("marks", ["<<<<<<< HEAD\n", ">>>>>>> theirs\n"])
def test_the_midst_of_a_merge_is_told_and_how_to_end_it(tmp_path, marks):
    path = tmp_path / "a.yaml"
    path.write_text(f"schema: 2\n{marks}test: a\n", encoding="utf-8")
    with pytest.raises(BaselineError) as error:
        storage.load(path)
    text = str(error.value)
    assert text.startswith(
        f"{path}: is in the midst of a merge: a conflict's mark is in line 2.\nExpected: a baseline of"
    )
    assert f"git checkout --ours -- {path} (or --theirs)" in text
