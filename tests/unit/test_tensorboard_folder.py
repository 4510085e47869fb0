"""A folder that runs before this one, others or an accident left something in."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from records import result, step
from reports import batches, run, training

from pytest_opcost.errors import ReportError

pytest.importorskip("tensorboard")
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from pytest_opcost.report.tensorboard import write_events

FOLDER = "costs/tests/test_a.py/test_step/batch-16-cpu-test-cpu-9000"
FIRST, SECOND, THIRD = (f"events.out.tfevents.000000000{number}.opcost" for number in (1, 2, 3))


def steps(folder):
    return [point.step for point in EventAccumulator(str(folder)).Reload().Scalars("step us/wall")]


@pytest.mark.parametrize(
    ("break_it", "told"),
    [
        (lambda content: content[:-1], "it ends within a record, at byte "),
        (lambda content: content + b"half", "it ends within a record, at byte "),
        (lambda content: b"x" + content[1:], "the record at byte 0 has a wrong checksum"),
        (lambda content: content[:20] + b"x" + content[21:], "the record at byte 0 has a wrong checksum"),
        (lambda content: b"", "it is empty"),
    ],
    ids=["cut short", "half a record more", "another length", "another byte", "empty"],
)
def test_a_damaged_file_is_named_and_the_run_s_own_points_are_kept(tmp_path, break_it, told):
    write_events(tmp_path, run([result()]))
    write_events(tmp_path, run([result()]))
    damaged = tmp_path / FOLDER / SECOND
    damaged.write_bytes(break_it(damaged.read_bytes()))
    left = damaged.read_bytes()
    with pytest.raises(ReportError) as caught:
        write_events(tmp_path, run([result(), *batches(64)], [training()]))
    message = str(caught.value).splitlines()
    assert message[0] == "TensorBoard cannot read 1 event file of older runs, or not to its end:"
    assert message[1].startswith(f"  - {damaged}: {told}")
    assert message[-1] == ("Delete what is listed, or begin anew in another folder with --opcost-tensorboard=DIR.")
    assert damaged.read_bytes() == left
    assert steps(tmp_path / "costs/tests/test_a.py/test_step/batch-64-cpu-test-cpu-9000") == [3]
    assert len(list(tmp_path.glob("training/run-0003-*/*/events*"))) == 1
    # With the file deleted, as the message says, the other points are a curve.
    damaged.unlink()
    assert steps(tmp_path / FOLDER) == [1, 3]


def test_events_of_another_program_in_the_same_folder_are_named(tmp_path):
    other = tmp_path / FOLDER / "events.out.tfevents.1795857330.host.17.0"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"")
    with pytest.raises(ReportError, match="not written by opcost"):
        write_events(tmp_path, run([result()]))
    assert other.read_bytes() == b""


def test_other_programs_folders_are_left_alone(tmp_path):
    other = tmp_path / "my-experiment" / "events.out.tfevents.1795857330.host.17.0"
    other.parent.mkdir()
    other.write_bytes(b"torn")
    write_events(tmp_path, run([result()]))
    assert other.read_bytes() == b"torn"
    assert steps(tmp_path / FOLDER) == [1]


def test_a_number_that_another_run_has_taken_is_not_taken_twice(tmp_path, monkeypatch):
    write_events(tmp_path, run([result()]))
    listed = Path.iterdir

    def before_the_other(folder):
        found = list(listed(folder))
        (tmp_path / "opcost-runs" / "0000000002").touch()
        return iter(found)

    monkeypatch.setattr(Path, "iterdir", before_the_other)
    write_events(tmp_path, run([result()]))
    assert steps(tmp_path / FOLDER) == [1, 3]


def test_numbers_go_on_where_their_register_was_deleted(tmp_path):
    for _ in range(2):
        write_events(tmp_path, run([result()]))
    for path in (tmp_path / "opcost-runs").iterdir():
        path.unlink()
    write_events(tmp_path, run([result()]))
    assert steps(tmp_path / FOLDER) == [1, 2, 3]


def test_a_full_disk_leaves_no_half_file(tmp_path, monkeypatch):
    write_events(tmp_path, run([result()]))

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(ReportError, match=r"could not be written: No space left on device\.\nExpected: a folder"):
            write_events(tmp_path, run([result()]))
    assert sorted(os.listdir(tmp_path / FOLDER)) == [FIRST]
    write_events(tmp_path, run([result(step(every=2.0))]))
    assert sorted(os.listdir(tmp_path / FOLDER)) == [FIRST, THIRD]
    assert steps(tmp_path / FOLDER) == [1, 3]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "tb").write_text("mine", encoding="utf-8")
    with pytest.raises(ReportError) as caught:
        write_events(tmp_path / "tb", run([result()]))
    assert str(caught.value).startswith(f"{tmp_path / 'tb'}: the report could not be written: ")
    assert str(caught.value).endswith("Choose another place with --opcost-tensorboard=DIR.")
    assert (tmp_path / "tb").read_text(encoding="utf-8") == "mine"
