"""The fast reader of our own YAML: it says what PyYAML says, or nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

from pytest_opcost import yaml_text
from pytest_opcost.yaml_lines import read_lines

_BASELINES = sorted(Path(__file__).parents[2].glob("baselines/*/*.yaml"))
_HEAD = "schema: 2\ntest: tests/test_x.py::test_y[cpu-16]\nrecorded: '2026-11-28'\n"
#: What a person or a merge may write in the place of something else.
_OTHER = [
    *"abz019 .,:'{}[]#-+_eE~!&*\"\\\t?|>%@=<y\n", "true", "no", "On", "null", "1e5", "1.5e+3", "0x1f", "017", "1_0",
    "1:30", "2026-01-01", "'x'", "''", "-1", "+1", ".5", "- a", "NaN", ".inf", "a: b", "<<", "!!int 3", "a#b", " #c",
    " : ", "1.2.3", "é",
]  # fmt: skip


def _by_yaml(text: str) -> object:
    return yaml.load(text, Loader=yaml_text._loader())


@pytest.mark.parametrize("path", _BASELINES[::4], ids=lambda path: path.stem)
def test_every_baseline_is_read_fast_and_alike(path: Path) -> None:
    text = path.read_text("utf-8")

    document = yaml_text._as_written(text)

    assert document is not None
    assert repr(document) == repr(_by_yaml(text))


def test_whatever_is_changed_in_a_baseline_is_read_alike_or_not_at_all() -> None:
    rng, read = random.Random(3), 0
    texts = [path.read_text("utf-8").split("\n") for path in _BASELINES[::3]]
    for _ in range(1500):
        lines = rng.choice(texts)
        op = rng.choice([line for line in lines if line.startswith("  - {op")])
        text = "\n".join([*[line for line in lines if line][2:8], "ops:", op, "ratios: {}", ""])
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice([*_OTHER, ""]) + text[at + rng.randint(0, 1) :]
        try:
            document = yaml_text._as_written(text)
        except (yaml.YAMLError, ValueError):  # of the simple fields, which PyYAML reads
            continue
        if document is not None:
            read += 1
            assert repr(document) == repr(_by_yaml(text)), text
    assert read > 300


@pytest.mark.parametrize(
    "line",
    [
        "a: {b: yes}", "a: {b: True}", "a: {b: ~}", "a: {b: }", "a: {b}", "a: {b:1}", "a: {b:'c'}", "a: {b: 1e5}",
        "a: {b: 0x1f}", "a: {b: 017}", "a: {b: 1_000}", "a: {b: .5}", "a: {b: +1}", "a: {b: 2026-11-28}", "a: {1: 2}",
        "a: {b: 1, b: 2}", "a: {b: 'it''s'}", 'a: {b: "c"}', "a: {b: c} # {d}", "a: {b: &x c}", "a: {b: !!int 3}",
        "a: {b: [1, 2,]}", "a: {b: é}", "a: {b: c\t}", "a: [1]", "a: 1", "null: {}", "a:", "  b: {c: 1}", "  - {c: 1}",
        "---", "",
    ],
)  # fmt: skip
def test_what_it_does_not_read(line: str) -> None:
    assert read_lines([line]) is None


def test_fields_stand_once_and_lists_and_mappings_are_not_mixed() -> None:
    assert read_lines(["a: {b: 1}", "a: {c: 1}"]) is None
    assert read_lines(["a:", "  - {b: 1}", "  c: {d: 1}"]) is None
    assert read_lines(["a:", "  c: {d: 1}", "  c: {d: 1}"]) is None
    assert read_lines(["a:", "b: {c: 1}"]) is None
    assert read_lines(["a:", "  # one", "  - {b: 1}", "  - {b: 'yes'}", "# end"]) == {"a": [{"b": 1}, {"b": "yes"}]}
    assert read_lines(["a:", "  'aten::mm': {b: -0.5}", "  c d: {}"]) == {"a": {"aten::mm": {"b": -0.5}, "c d": {}}}


def test_a_damaged_file_is_told_by_yaml(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(f"{_HEAD}step: {{steps: 1, steps: 2}}\n")

    with pytest.raises(Exception, match=r"line 4: the key 'steps' stands twice"):
        yaml_text.parse(path)
