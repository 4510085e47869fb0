"""Baseline files in good order: what they look like, that they read back, which of them belong together."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest
from flows import TRAINED
from records import CPU, CUDA, baseline, op, profile, ratio, step

from pytest_opcost import rendering, storage
from pytest_opcost.baselines import Session
from pytest_opcost.costs import ColdStep
from pytest_opcost.errors import BaselineError

GOLDEN = """\
# Operator costs of one step, recorded by pytest-opcost; times are microseconds of self time a step.
# Accept new figures with: pytest "tests/test_a.py::test_step[cpu-16]" --opcost-update-baselines
schema: 2
test: tests/test_a.py::test_step[cpu-16]
recorded: '2026-11-27'
machine: cpu-test-cpu-9000-1-thread-torch2.11
environment: {device: cpu, device_name: Test CPU 9000, capability: x86_64 AVX2, torch: 2.11.0+cpu, threads: 1, \
allocator: quiet}
settings: {mkldnn: 'on', threads: '1'}
details: {os: Linux 6.1, python: 3.12.1}
step: {steps: 30, wall_us: 1234, total_host_us: 12480, total_device_us: 0.0, load: 0.12, pace_us: 4.612}
cold: {wall_us: 45680, host_us: 100.0, device_us: 0.0, ops: {'aten::mm': [98.76, 0.0]}}
sessions:
  - {recorded: '2026-11-27', rounds: 2, load: 0.12}
ratios:
  conv/addmm: {value: 2.0, spread: 0.0123}
ops:
  - {op: 'aten::convolution', family: conv, calls: 2, self_host_us: 12350, self_device_us: 0.0, share: 0.9895, \
samples: [12350, 12350]}
  # below the top 1
  - {op: 'aten::mm', family: addmm, calls: 1, self_host_us: 130.0, self_device_us: 0.0, share: 0.0104, \
forward: 0.3333, varying: true, samples: [130.0, 131.0]}
  - {op: 'aten::add', family: elementwise, calls: 1, self_host_us: 1.235, self_device_us: 0.0, share: 0.0001}
"""


def example():
    cost = profile(
        op("aten::convolution", 12345.678, calls=2, samples=(12345.1, 12346.4)),
        op("aten::mm", 130.0, forward=1 / 3, varying=True, samples=(130.0, 131.0)),
        op("aten::add", 1.23456, samples=(1.2, 1.3)),
        load=0.123,
        pace_us=4.6123,
        wall_us=1234.49,
    )
    return baseline(replace(cost, cold=ColdStep(45678.9, 100.0, 0.0, (("aten::mm", 98.76, 0.0),))))


def saved(folder, one, top=10):
    path = folder / "a.yaml"
    path.write_text(rendering.render(one, top), encoding="utf-8")
    return replace(one, path=path)


def assert_alike(one, two):
    """Equal in all but the fifth digit."""
    assert (one.test, one.check, one.recorded, one.path) == (two.test, two.check, two.recorded, two.path)
    assert one.profile.environment == two.profile.environment
    assert one.profile.steps == two.profile.steps
    figures = [
        [
            (
                cost.wall_us,
                cost.total_host_us,
                cost.total_device_us,
                *((c.wall_us, c.host_us, c.device_us, *c.ops[0][1:]) if c else ()),
            ),
            *((o.self_host_us, o.self_device_us, *o.samples) for o in cost.ops),
            tuple(r.value for r in b.ratios.values()),
        ]
        for b in (one, two)
        for cost, c in [(b.profile, b.profile.cold)]
    ]
    assert [pytest.approx(row, rel=6e-4) for row in figures[0]] == figures[1]
    words = [
        [(o.name, o.family, o.calls, o.varying, round(o.share, 4), round(o.forward, 4)) for o in b.profile.ops]
        for b in (one, two)
    ]
    assert words[0] == words[1]
    spreads = [{name: round(r.spread, 4) for name, r in b.ratios.items()} for b in (one, two)]
    assert spreads[0] == spreads[1]


def test_the_file_as_a_reviewer_sees_it():
    assert rendering.render(example(), 1) == GOLDEN


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(example(), id="with a cold step"),
        pytest.param(baseline(check="encoder"), id="a named check"),
        pytest.param(replace(baseline(), ratios={}), id="without ratios"),
        pytest.param(replace(baseline(), ratios={"conv/addmm forward": ratio(0.5), "my::a/b:": ratio(2)}), id="ratios"),
        pytest.param(baseline(test="tests/test_ä.py::test b[#: {x}, 'y\", 中文]"), id="an odd test id"),
        pytest.param(baseline(test="2026-01-01"), id="a test id like a date"),
        pytest.param(baseline(test="x" * 5000), id="a long test id"),
        pytest.param(baseline(profile(op("no", 1), op("1e3", 2), op("a: b #c", 3), op("~", 4))), id="odd names"),
        pytest.param(baseline(profile(op("aten::mm", 3.0, device_us=12.3456), environment=CUDA)), id="device times"),
        pytest.param(
            baseline(replace(step(), environment=replace(CPU, torch="2.10", capability="9.0"))), id="versions"
        ),
        pytest.param(baseline(profile(op("a", 1.5e-7), op("b", 3.3e9))), id="very small and very large"),
    ],
)
def test_what_is_rendered_reads_back(tmp_path, one):
    one = saved(tmp_path, one)
    assert_alike(storage.load(one.path), one)


@pytest.mark.parametrize(("top", "kept"), [(1, [2, 2, 0]), (2, [2, 2, 0]), (3, [2, 2, 2])])
def test_samples_are_kept_for_the_top_and_for_what_has_a_share(tmp_path, top, kept):
    path = saved(tmp_path, example(), top=top).path
    assert [len(one.samples) for one in storage.load(path).profile.ops] == kept


def test_no_baseline_keeps_a_data_flow(tmp_path):
    watched = replace(example(), profile=replace(example().profile, flow=TRAINED))
    assert rendering.render(watched, 10) == rendering.render(example(), 10)
    assert storage.load(saved(tmp_path, watched).path).profile.flow is None


def test_a_profile_without_samples(tmp_path):
    text = rendering.render(baseline(), 10)
    assert "samples" not in text
    assert "total_host_us: 1000," in text
    assert storage.load(saved(tmp_path, baseline()).path).reference.sessions == (1,)


def test_sessions_read_back_in_their_order(tmp_path):
    sessions = (Session("2026-11-27", 2, 0.12), Session("2026-11-28", 1, 0.0), Session("2027-01-02", 3, 1.5))
    one = example()
    ops = tuple(replace(op, samples=(100.0,) * 6 if op.samples else ()) for op in one.profile.ops)
    one = replace(one, profile=replace(one.profile, ops=ops), sessions=sessions)
    loaded = storage.load(saved(tmp_path, one).path)
    assert loaded.sessions == sessions
    reference = loaded.reference
    assert (reference.sessions, reference.paired, reference.ratios) == ((2, 1, 3), False, {"conv/addmm": 2.0})
    assert reference.profile == loaded.profile


def test_ids_and_names_stay_readable_on_one_line():
    test = "a b " * 100 + "größe 中文"
    text = rendering.render(baseline(profile(op("größe::x", 1.0)), test=test), 10)
    assert f"\ntest: {test}\n" in text
    assert "{op: 'größe::x', " in text


def test_rendering_twice_changes_nothing(tmp_path):
    one = saved(tmp_path, example())
    assert rendering.render(storage.load(one.path), 10) == one.path.read_text(encoding="utf-8")


def test_write_makes_folders_and_a_file_that_others_can_read(tmp_path):
    path = tmp_path / "baselines" / "machine" / "a.yaml"
    storage.write(path, "größer\n")
    assert path.read_bytes() == "größer\n".encode()
    assert path.stat().st_mode & 0o777 == 0o644
    assert [p.name for p in path.parent.iterdir()] == ["a.yaml"]


@pytest.mark.parametrize("broken", ["replace", "fsync", "fdopen"])
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), OSError("No space left on device")]
)
def test_a_failing_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, broken, error):
    def full(*_, **__):
        raise error

    path = tmp_path / "a.yaml"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, broken, full)
    with pytest.raises(BaselineError) as caught:
        storage.write(path, "new")
    monkeypatch.undo()
    assert str(caught.value).startswith(
        f"{path}: the baseline could not be written: No space left on device.\nExpected"
    )
    assert str(caught.value).endswith("--opcost-baselines=DIR.")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.yaml", "old")]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, stop):
    def interrupted(_):
        raise stop

    path = tmp_path / "a.yaml"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(stop):
        storage.write(path, "new")
    monkeypatch.undo()
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.yaml", "old")]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "machine").write_text("a file", encoding="utf-8")
    with pytest.raises(BaselineError, match="could not be written"):
        storage.write(tmp_path / "machine" / "a.yaml", "new")


def keep(root: Path, machine: str, name: str = "a.yaml", **environment: object) -> Path:
    path = root / machine / name
    path.parent.mkdir(parents=True, exist_ok=True)
    cost = replace(step(), environment=replace(CPU, **environment))
    path.write_text(rendering.render(baseline(cost, test=machine), 10), encoding="utf-8")
    return path


def test_elsewhere_finds_the_same_check_of_a_like_machine(tmp_path):
    own = tmp_path / "mine" / "a.yaml"
    assert storage.elsewhere(tmp_path, own, CPU) is None
    keep(tmp_path, "other-name", "b.yaml")
    keep(tmp_path, "other-device", device="cuda")
    keep(tmp_path, "other-torch", torch="2.12.0")
    keep(tmp_path, "other-threads", threads=2)
    keep(tmp_path, "mine")
    assert storage.elsewhere(tmp_path, own, CPU) is None
    path = keep(tmp_path, "like", device_name="Another CPU", torch="2.11.7", allocator="system")
    assert storage.elsewhere(tmp_path, own, CPU).path == path


def test_elsewhere_prefers_the_same_capability(tmp_path):
    own = tmp_path / "mine" / "a.yaml"
    first = keep(tmp_path, "a-machine", capability="x86_64 AVX512")
    assert storage.elsewhere(tmp_path, own, CPU).path == first
    keep(tmp_path, "b-machine")
    keep(tmp_path, "c-machine", capability="arm64")
    assert storage.elsewhere(tmp_path, own, CPU).path == tmp_path / "b-machine" / "a.yaml"


def test_elsewhere_takes_the_first_of_equals(tmp_path):
    paths = [keep(tmp_path, machine) for machine in "fghaebdc"]
    assert storage.elsewhere(tmp_path, tmp_path / "mine" / "a.yaml", CPU).path == min(paths)


def test_stored_tests_are_told_by_their_files_first_lines(tmp_path):
    one, two = keep(tmp_path, "test_b[x: y]"), keep(tmp_path, "test_a", "b.yaml")
    for name, text in {
        "empty.yaml": b"",
        "none.yaml": b"schema: 1\n",
        "list.yaml": b"test: [1]\n",
        "bad.yaml": b"test: 'x\n",
        "binary.yaml": b"\xff\xfe\ntest: a\n",
        "number.yaml": b"test: 3\n",
        "date.yaml": b"test: 2026-13-45\n",
        "a.txt": b"test: a\n",
    }.items():
        (tmp_path / "test_a" / name).write_bytes(text)
    (tmp_path / "test_a" / "folder.yaml").mkdir()
    (tmp_path / "high.yaml").write_text("test: a\n", encoding="utf-8")
    assert list(storage.stored_tests(tmp_path)) == [(two, "test_a"), (one, "test_b[x: y]")]


def test_no_folder_holds_no_tests(tmp_path):
    assert list(storage.stored_tests(tmp_path / "nowhere")) == []
