"""Operators are read line by line exactly as by YAML, or left to it."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from pytest_opcost import storage, stored_ops, yaml_text
from pytest_opcost.errors import BaselineError
from pytest_opcost.facts import Place

HEAD = """\
# Operator costs of one step
schema: 2
test: tests/test_a.py::test_step[cpu-16 (big)]
recorded: '2026-11-28'
machine: cpu-x
environment: {device: cpu, device_name: X 9, capability: AVX2, torch: 2.14.1+cu130, threads: 1, allocator: quiet}
settings: {}
details: {}
step: {steps: 30, wall_us: 23480, total_host_us: 23480, total_device_us: 0.0, load: 0.0}
sessions:
  - {recorded: '2026-11-28', rounds: 2, load: 0.0}
ratios: {}
"""
OPS = """\
ops:
  - {op: 'aten::mm', family: addmm, calls: 4, self_host_us: 1500, self_device_us: 0.0, share: 0.9, \
samples: [1500, 14.31]}
  # below the top 1
  - {op: AddmmBackward0, family: autograd, calls: 2, self_host_us: 9.5, self_device_us: 0.0, share: 0.1, \
forward: 0.25, varying: true}
"""
FACTS = """\
facts:
  aten::mm: {flops: 512, alloc_bytes: 64, syncs: 1, kernels: {Memset (Device): 2, sgemm<64>#7032: 1}, \
inputs: {'f32[10] f32[16,128]': 3, 'f32[2,3]': 4}, varying: [flops, kernels], at: [forward fc1, 'backward fc1']}
  'odd: key': {inputs: {(): 2}, at: [other]}
"""
#: What YAML takes for something else than it looks like, or refuses.
PIECES = (
    *"{}[],:' \n-#&*!|>%@`?\"~.=0\\",
    *("''", ": ", ", ", "  ", "\n  ", " #", "- ", "? ", "--- ", "...", "!!str ", "&a ", "<<", "on", "null", "yes"),
    *("1.", ".5", "1e5", "0o7", "012", "1_0", "2026-11-28", ".inf", "1:30", "é", "\u00a0", "\u2028", "\t", "\x07"),
)
PATH = Path("a.yaml")


def by_yaml(text):
    """The baseline, or the reason why there is none, where YAML reads all of the text."""
    try:
        return storage._baseline(yaml_text.parse(text, PATH), None, PATH)
    except BaselineError as error:
        return str(error)


def by_lines(text):
    try:
        return storage.load_text(text, PATH)
    except BaselineError as error:
        return str(error)


def test_what_is_written_as_usual():
    head, (mm, backward) = stored_ops.read(HEAD + OPS + FACTS)
    assert head == HEAD
    assert (mm.name, mm.calls, mm.samples, mm.forward, mm.varying) == ("aten::mm", 4, (1500.0, 14.31), 1.0, False)
    assert (backward.forward, backward.varying, backward.facts) == (0.25, True, None)
    assert mm.facts.inputs == (("f32[2,3]", 4), ("f32[10] f32[16,128]", 3))
    assert mm.facts.kernels == (("Memset (Device)", 2), ("sgemm<64>#7032", 1))
    assert mm.facts.places == (Place("forward", "fc1"), Place("backward", "fc1"))


@pytest.mark.parametrize("text", [HEAD + OPS, HEAD + OPS + FACTS, HEAD + OPS.replace("'aten::mm'", "aten.mm")])
def test_it_is_what_yaml_reads(text):
    assert stored_ops.read(text) is not None
    assert repr(by_lines(text)) == repr(by_yaml(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("family: addmm", "family: on"),
        ("family: addmm", "family: 'addmm'"),
        ("calls: 4", "calls: 04"),
        ("calls: 4", "calls: 4.0"),
        ("share: 0.9", "share: 9.0e-01"),
        ("share: 0.9", "share: -0.9"),
        ("share: 0.9,", "share: 0.9, share: 0.9,"),
        ("'aten::mm'", "''"),
        ("'aten::mm'", "AddmmBackward0"),
        ("varying: true", "varying: yes"),
        ("samples: [1500, 14.31]", "samples: []"),
        ("ops:\n", "ops: # all\n"),
        ("ops:\n", "ops: []\nops:\n"),
        ("ops:\n", "...\nops:\n"),
        ("  - {op: 'aten::mm'", " - {op: 'aten::mm'"),
        ("'odd: key'", "aten::mm"),
        ("inputs: {(): 2}", "inputs: {(): 2, (): 3}"),
        ("inputs: {(): 2}", "inputs: {'': 2}"),
        ("{flops: 512, ", "{flops: 512 "),
        ("at: [other]", "at: []"),
        ("facts:\n", "facts:\n\tx: 1\n"),
    ],
)
def test_what_is_not_as_usual_is_left_to_yaml(old, new):
    text = (HEAD + OPS + FACTS).replace(old, new, 1)
    assert text != HEAD + OPS + FACTS
    assert stored_ops.read(text) is None or "ops: []" in text
    assert repr(by_lines(text)) == repr(by_yaml(text))


@pytest.mark.parametrize("line", ["ops: []", "'ops': []", "facts: {}", "? ops"])
def test_operators_that_stand_twice_are_an_error(line):
    text = HEAD + line + "\n" + OPS + FACTS
    assert "twice" in by_lines(text)
    assert by_lines(text) == by_yaml(text)


def test_equal_lines_of_facts_are_one_object():
    (_, (one, _)), (_, (two, _)) = stored_ops.read(HEAD + OPS + FACTS), stored_ops.read(HEAD + OPS + FACTS)
    assert one.facts is two.facts


def test_a_text_with_anything_put_in_or_cut_out_is_read_as_yaml_reads_it_or_not_at_all():
    draw, whole, read = random.Random(7), HEAD + OPS + FACTS, 0
    start = whole.index("\nratios")
    for _ in range(3000):
        at = draw.randrange(start, len(whole))
        cut = draw.choice((0, 0, 1, 2))
        text = whole[:at] + draw.choice((*PIECES, "")) + whole[at + cut :]
        if stored_ops.read(text) is not None:
            read += 1
            assert repr(by_lines(text)) == repr(by_yaml(text)), text
    assert read > 500


def test_a_head_with_anything_put_in_or_cut_out_is_read_as_yaml_reads_all_of_it():
    draw, whole, shared = random.Random(8), HEAD + OPS, 0
    start, end = whole.index("test: "), len(HEAD)
    for _ in range(3000):
        text = whole
        for _ in range(draw.choice((1, 1, 2))):
            at = draw.randrange(start, end)
            text = text[:at] + draw.choice(PIECES) + text[at + draw.choice((0, 0, 1, 10)) :]
        with suppress(yaml.YAMLError, ValueError):
            shared += yaml_text._with_shared(text.partition("ops:\n")[0], storage._ALIKE) is not None
        assert repr(by_lines(text)) == repr(by_yaml(text)), text
    assert shared > 500


def test_lines_within_quotes_are_no_lines_that_files_share():
    text = (HEAD + OPS).replace("machine: cpu-x", "machine: 'cpu-x").replace("\nstep:", "\n and more'\nstep:")
    assert yaml_text.parse(text, PATH)["machine"].endswith("details: {} and more")
    assert by_lines(text) == by_yaml(text)


def test_what_files_have_in_common_is_read_once():
    yaml_text._shared_value.cache_clear()
    for number in range(3):
        assert by_lines((HEAD + OPS).replace("[cpu-16", f"[cpu-{number}")).test.startswith(
            f"tests/test_a.py::test_step[cpu-{number}"
        )
    assert yaml_text._shared_value.cache_info()[:2] == (2, 1)  # hits, misses


def test_every_baseline_of_this_repository_is_as_usual():
    paths = sorted((Path(__file__).parents[2] / "baselines").rglob("*.yaml"))
    assert len(paths) >= 12
    for path in paths[::3]:
        text = path.read_text("utf-8")
        assert stored_ops.read(text) is not None, path
        assert repr(by_lines(text)) == repr(by_yaml(text)), path
