from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

from pytest_opcost import yaml_lines, yaml_text

AS_WRITTEN = """\
# Operator costs of one step
schema: 2
test: tests/test_a.py::TestA::test_step[cpu-16 (big)]
check: 'on'
recorded: '2026-11-28'
environment: {device: cpu, device_name: AMD EPYC family 25 model 17, torch: 2.14.1+cu130, threads: 1}
settings: {autocast: 'off', mkldnn: 'on', threads: '1'}
details: {}
step: {steps: 30, wall_us: 23480, total_device_us: 0.0, load: 1.0e-05}
sessions:
  - {recorded: '2026-11-28', rounds: 5, load: 0.0}
ratios: {}
ops:
  - {op: 'aten::mm', family: addmm, calls: 4, varying: true, samples: [1500, 14.31]}
  # below the top 10
  - {op: AddmmBackward0, family: autograd, calls: 2, samples: []}
facts:
  aten::mm: {kernels: {Memset (Device): 2, sgemm<64>#7032: 1}, inputs: {'f32[10] f32[16,128]': 1}, at: [forward]}
  'odd: key': {inputs: {(): 2}}
"""
#: What YAML takes for something else than it looks like, or refuses.
PIECES = (
    *"{}[],:' \n-#&*!|>%@`?\"~.=0\\",
    *("''", ": ", ", ", "  ", "\n  ", " #", "- ", "? ", "--- ", "...", "!!str ", "&a ", "<<", "on", "null", "yes"),
    *("1.", ".5", "1e5", "0o7", "012", "1_0", "2026-11-28", ".inf", "1:30", "é", "\u00a0", "\u2028", "\t", "\x07"),
)


def by_yaml(text):
    return yaml.load(text, Loader=yaml_text._loader())


def test_what_is_written_as_usual_is_read_as_yaml_reads_it():
    found = yaml_lines.read(AS_WRITTEN)
    assert repr(found) == repr(by_yaml(AS_WRITTEN))
    assert found["facts"]["aten::mm"]["kernels"] == {"Memset (Device)": 2, "sgemm<64>#7032": 1}


@pytest.mark.parametrize(
    "text",
    [
        "a: on",
        "a: [on, no, true, False]",
        "a: 'it''s'\nb: {'x''y': 1}",
        "b: [1e5, 2.0.1, -3, -0.5, 1.5e+300]",
    ],
)
def test_words_that_yaml_takes_for_something_else(text):
    assert repr(yaml_lines.read(text)) == repr(by_yaml(text))


@pytest.mark.parametrize(
    "text",
    ["", "# nothing\n", "a: {b: 2026-11-28}", "a: {b: 1.}", "a: {b:1}", "a: &x {}", 'a: "b"', "a: {b: 1, b: 2}", "a:\n",
     "a: 1\na: 2", "a: {b: ~}", "a: {b: [}", "- 1\n", "a: 1\n  b: {}", "a:\n  - {}\n  b: {}", "a: x: y", "a: {b: 1} c"],
)  # fmt: skip
def test_what_is_not_as_usual_is_left_to_yaml(text):
    assert yaml_lines.read(text) is None


def test_a_list_nested_without_end_is_left_alone():
    assert yaml_lines.read("a: " + "[" * 100_000) is None


def test_a_text_with_anything_put_in_or_cut_out_is_read_as_yaml_reads_it_or_not_at_all():
    draw, lines, read = random.Random(7), AS_WRITTEN.splitlines(keepends=True), 0
    for _ in range(3000):
        text = "".join([draw.choice(lines[1:9]), *lines[9:11], *lines[13:15]])
        at = draw.randrange(len(text))
        cut = draw.choice((0, 0, 1, 2))
        text = text[:at] + draw.choice((*PIECES, "")) + text[at + cut :]
        if (found := yaml_lines.read(text)) is not None:
            read += 1
            assert repr(found) == repr(by_yaml(text)), text
    assert read > 500


def test_every_baseline_of_this_repository_is_as_usual():
    paths = sorted((Path(__file__).parents[2] / "baselines").rglob("*.yaml"))
    assert len(paths) >= 12
    for path in paths[::3]:
        text = path.read_text("utf-8")
        assert repr(yaml_lines.read(text)) == repr(by_yaml(text)), path
